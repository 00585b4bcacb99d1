import type { Command } from 'commander';
import { Refusal } from '../refusal.ts';
import { showGiven } from '../show-given.ts';
import type { CliCommand } from './command.ts';

export const completionCommand: CliCommand = {
  usage: 'completion <SHELL>',
  summary: 'Print what completes commands and options in a shell: bash or zsh',
  examples: ['source <(holdfast completion bash)', 'source <(holdfast completion zsh)'],
  dataDir: 'unused',
  run: async ({ args: [shell], program, terminal }) => {
    if (shell !== 'bash' && shell !== 'zsh')
      throw new Refusal(`SHELL: given ${showGiven(shell)}, expected bash or zsh`);
    // zsh runs what bash does by an emulation of its own.
    const emulation = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
    terminal.stdout.write(emulation + scriptOf(casesOf(program, '')));
  },
};

/** A case for each command: its words, and what may come after them. */
function casesOf(command: Command, words: string): readonly string[] {
  const { commands } = command;
  const options = command.createHelp().visibleOptions(command);
  const next = [...commands.map((each) => each.name()), ...options.flatMap(({ long }) => long ?? [])];
  const below = commands.flatMap((each) => casesOf(each, `${words} ${each.name()}`.trim()));
  return [`    '${words}') next='${next.join(' ')}' ;;`, ...below];
}

/** The words up to the first option say which command it is. Where nothing is known, files are completed. */
function scriptOf(cases: readonly string[]): string {
  return `_holdfast() {
  local next='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; esac
    words="\${words:+$words }$word"
  done
  case "$words" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _holdfast holdfast
`;
}

import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';

const SHOWN_MS = 2_000;

/** Copies a text. A page that came without TLS from another machine may not write to the clipboard: then it is selected. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }): JSX.Element {
  const [said, setSaid] = useState('Copy');
  const button = useRef<HTMLButtonElement>(null);
  const copy = async (): Promise<void> => {
    const isCopied = await (navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    ) ?? false);
    if (!isCopied) getSelection()?.selectAllChildren(button.current!.previousElementSibling!);
    setSaid(isCopied ? 'Copied' : 'Selected');
    setTimeout(() => setSaid('Copy'), SHOWN_MS);
  };
  return (
    <button type="button" class="tool" ref={button} onClick={copy}>
      <span aria-live="polite">{said}</span>
      <span class="hidden"> {what}</span>
    </button>
  );
}

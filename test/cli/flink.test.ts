import { describe, expect, it } from 'vitest';
import { holdfast } from '../support/program/command.ts';

const NOBODY = 'http://127.0.0.1:1';
const KAFKA = ['--kafka-brokers', '127.0.0.1:1', '--kafka-topic', 'coins'];
const STORE = ['--postgres', 'postgres://engine@127.0.0.1:1/holdfast'];
const REST = ['--flink-rest', NOBODY];

describe('holdfast flink', () => {
  it.each([
    ['start', [...REST, ...KAFKA, ...STORE], '--flink-gateway says which SQL gateway'],
    ['start', ['--flink-gateway', NOBODY, ...KAFKA, ...STORE], '--flink-rest says which JobManager'],
    [
      'start',
      ['--flink-gateway', NOBODY, ...REST, ...STORE],
      '--kafka-brokers and --kafka-topic say which flat events',
    ],
    ['start', ['--flink-gateway', NOBODY, ...REST, ...KAFKA], '--postgres says which store'],
    ['start', [...REST, '--flink-parallelism', '0'], '--flink-parallelism: given "0", expected a whole number from 1'],
    ['start', ['--flink-gateway', 'http://u:p@a'], '--flink-gateway: given "http://u:p@a", expected a http'],
    [
      'start',
      ['--flink-gateway', NOBODY, ...REST, ...KAFKA, ...STORE],
      'the SQL gateway at http://127.0.0.1:1 gives no answer',
    ],
    ['status', STORE, '--flink-rest says which JobManager'],
    ['status', [...REST, ...STORE, '--json', '--watch'], '--json: given with --watch'],
    ['stop', REST, '--postgres says which store'],
    ['stop', [...REST, ...STORE, '--without-savepoint', '--savepoint-folder', '/s'], 'cannot be given with'],
    ['stop', [...REST, ...STORE], 'PostgreSQL at 127.0.0.1:1, database holdfast, user engine: connect ECONNREFUSED'],
  ])('%s refuses what is wrong or not there, in one line: %j', async (command, args, said) => {
    const { code, stdout, stderr } = await holdfast('flink', command, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(said);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('status tells what does not answer, and what to do', async () => {
    const { code, stdout } = await holdfast('flink', 'status', ...REST, ...STORE);
    expect(code).toBe(1);
    expect(stdout).toMatch(/attention +PostgreSQL at 127.0.0.1:1.*ECONNREFUSED/);
    expect(stdout).toMatch(
      /attention +the JobManager at http:\/\/127.0.0.1:1 gives no answer.*\n +next +start the JobManager/,
    );
  });
});

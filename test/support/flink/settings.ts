import { join } from 'node:path';

export interface FlinkPorts {
  readonly rpc: number;
  readonly blob: number;
  readonly rest: number;
  readonly gateway: number;
}

/**
 * The configuration of a cluster on this machine, with the least memory that works for the ledgers of tests. The main classes are
 * started without Flink's scripts, which PyPI's distribution lacks, and which would compute the sizes of a task manager's memory.
 */
export function flinkSettings(
  folder: string,
  ports: FlinkPorts,
  slots: number,
): Readonly<Record<string, string | number>> {
  const at = '127.0.0.1';
  return {
    'jobmanager.rpc.address': at,
    'jobmanager.rpc.port': ports.rpc,
    'jobmanager.bind-host': at,
    'blob.server.port': ports.blob,
    'rest.address': at,
    'rest.bind-address': at,
    'rest.port': ports.rest,
    'rest.bind-port': ports.rest,
    'sql-gateway.endpoint.rest.address': at,
    'sql-gateway.endpoint.rest.bind-address': at,
    'sql-gateway.endpoint.rest.port': ports.gateway,
    'sql-gateway.endpoint.rest.bind-port': ports.gateway,
    'taskmanager.host': at,
    'taskmanager.bind-host': at,
    'taskmanager.numberOfTaskSlots': slots,
    'taskmanager.cpu.cores': slots,
    'taskmanager.memory.framework.heap.size': '64m',
    'taskmanager.memory.framework.off-heap.size': '64m',
    'taskmanager.memory.task.heap.size': '192m',
    'taskmanager.memory.task.off-heap.size': '32m',
    'taskmanager.memory.managed.size': '32m',
    'taskmanager.memory.network.min': '32m',
    'taskmanager.memory.network.max': '32m',
    'taskmanager.memory.jvm-metaspace.size': '192m',
    'taskmanager.memory.jvm-overhead.min': '64m',
    'taskmanager.memory.jvm-overhead.max': '64m',
    'execution.checkpointing.dir': `file://${join(folder, 'checkpoints')}`,
    'execution.checkpointing.savepoint-dir': `file://${join(folder, 'savepoints')}`,
    'execution.checkpointing.externalized-checkpoint-retention': 'RETAIN_ON_CANCELLATION',
    'restart-strategy.type': 'fixed-delay',
    'restart-strategy.fixed-delay.attempts': 2_147_483_647,
    'restart-strategy.fixed-delay.delay': '1 s',
    'io.tmp.dirs': join(folder, 'tmp'),
  };
}

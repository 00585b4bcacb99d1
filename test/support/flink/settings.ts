import { join } from 'node:path';

export const FRAMEWORK_HEAP_MB = 64;

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
  { slots, taskHeapMb }: { readonly slots: number; readonly taskHeapMb: number },
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
    'taskmanager.memory.framework.heap.size': `${FRAMEWORK_HEAP_MB}m`,
    'taskmanager.memory.framework.off-heap.size': '64m',
    'taskmanager.memory.task.heap.size': `${taskHeapMb}m`,
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
    // How old the figures of tasks may be, in milliseconds; 10 s by default.
    'metrics.fetcher.update-interval': 500,
    'restart-strategy.type': 'fixed-delay',
    'restart-strategy.fixed-delay.attempts': 2_147_483_647,
    'restart-strategy.fixed-delay.delay': '1 s',
    'io.tmp.dirs': join(folder, 'tmp'),
  };
}

/** What makes a job survive its job manager: where that is, and what it runs, is kept by ZooKeeper. */
export function highAvailability(
  folder: string,
  zooKeeper: number,
  rpc: number,
): Readonly<Record<string, string | number>> {
  return {
    'high-availability.type': 'zookeeper',
    'high-availability.zookeeper.quorum': `127.0.0.1:${zooKeeper}`,
    'high-availability.zookeeper.client.session-timeout': '10000 ms',
    'high-availability.storageDir': `file://${join(folder, 'ha')}`,
    'high-availability.jobmanager.port': rpc,
    'resourcemanager.taskmanager-registration.timeout': '5 min',
    'heartbeat.interval': '1 s',
    'heartbeat.timeout': '10 s',
  };
}

export function zooKeeperSettings(folder: string, port: number): string {
  const settings = {
    ...{ tickTime: 2000, dataDir: join(folder, 'zookeeper'), clientPort: port, clientPortAddress: '127.0.0.1' },
    'admin.enableServer': false,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

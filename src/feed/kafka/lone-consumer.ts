import type { ConsumerConfig, Kafka } from 'kafkajs';

/** The cluster of a kafkajs consumer, and what is used of a group's coordinator; not in its types. */
interface Cluster {
  findGroupCoordinator(of: { groupId: string }): Promise<{ offsetCommit(request: object): Promise<unknown> }>;
}

/**
 * A consumer that reads every partition of its topics and is no member of a group. kafkajs reads only as a member of a group. Kafka keeps the membership of a killed member until its session times out, and a new
 * member waits for it. A directory's lock admits one reader already, so kafkajs gets a coordinator that knows only this member.
 */
export function createLoneConsumer(kafka: Kafka, config: ConsumerConfig) {
  const isCreateCluster = ({ description }: symbol): boolean => description === 'private:Kafka:createCluster';
  const key = Object.getOwnPropertySymbols(kafka).find(isCreateCluster)!;
  const { [key]: createCluster } = kafka as unknown as Record<symbol, (options: object) => Cluster>;
  let findCoordinator: Cluster['findGroupCoordinator'];
  const createLoneCluster = (options: object): Cluster => {
    const cluster = createCluster!(options);
    findCoordinator = cluster.findGroupCoordinator.bind(cluster);
    return Object.assign(cluster, { findGroupCoordinator: async () => COORDINATOR });
  };
  const consumer = (Object.create(kafka, { [key]: { value: createLoneCluster } }) as Kafka).consumer(config);
  return {
    consumer,
    /** Commits to the group, as a tool does that sets offsets. Fails while the group has members. */
    async commit(topic: string, offsets: ReadonlyMap<number, number>): Promise<void> {
      const partitions = [...offsets].map(([partition, offset]) => ({ partition, offset: String(offset) }));
      const { groupId } = config;
      const coordinator = await findCoordinator({ groupId });
      const request = { groupId, groupGenerationId: -1, memberId: '', topics: [{ topic, partitions }] };
      await coordinator.offsetCommit(request);
    },
  };
}

const MEMBER = 'holdfast';

/** What kafkajs calls of the broker that coordinates a group. */
const COORDINATOR = {
  isConnected: () => true,
  joinGroup: async ({ groupProtocols: [protocol] }: { groupProtocols: { name: string; metadata: Buffer }[] }) => ({
    ...{ generationId: 0, leaderId: MEMBER, memberId: MEMBER, groupProtocol: protocol!.name },
    members: [{ memberId: MEMBER, memberMetadata: protocol!.metadata }],
  }),
  // None where the topic is gone.
  syncGroup: async ({ groupAssignment: [all] }: { groupAssignment: { memberAssignment: Buffer }[] }) => ({
    memberAssignment: all?.memberAssignment ?? Buffer.alloc(0),
  }),
  heartbeat: async () => {},
  leaveGroup: async () => {},
  // kafkajs commits and fetches only where an offset is out of range, and then begins at the topic's start.
  offsetCommit: async () => {},
  offsetFetch: async ({ topics }: { topics: { topic: string; partitions: { partition: number }[] }[] }) => ({
    responses: topics.map(({ topic, partitions }) => {
      return { topic, partitions: partitions.map(({ partition }) => ({ partition, offset: '-1' })) };
    }),
  }),
};

import { describe, expect, inject, it } from 'vitest';
import { SASL_USER } from '../../../support/kafka/broker.ts';
import { scanRows } from '../../../support/kafka/rows.ts';
import { serveTopic } from '../../../support/kafka/service.ts';
import { createTopic } from '../../../support/kafka/topic.ts';
import { emptyUpdate } from '../../../support/ledger/empty-update.ts';
import { freshDirectory } from '../../../support/program/fresh-directory.ts';

const { addresses, certificates } = inject('kafka');

const directory = freshDirectory();

describe('who may read', () => {
  it('is each directory, also where two name the same group', async () => {
    const topic = await createTopic(addresses.plain, { partitions: 2 });
    const shared = { kafkaGroup: `shared-${topic.name}`, kafkaPartitionIdle: '1ms' };
    await using first = await serveTopic(topic, directory, shared);
    await using second = await serveTopic(topic, directory, { ...shared, data: directory.at('second') });
    for (const seconds of [1, 2]) {
      await topic.send([0, 1].map((partition) => ({ partition, value: emptyUpdate(`s${partition}`, seconds) })));
      for (const service of [first, second])
        await service.until('read', async () => (await service.status()).counts.updates === 2 * seconds);
    }
  });

  it.each(['plain', 'scram-sha-256', 'scram-sha-512'])(
    'logs in with %s, over TLS, and keeps the password to itself',
    async (mechanism) => {
      const topic = await createTopic(addresses.plain);
      await topic.send(scanRows(13));
      const password = directory.writeLines('password', [SASL_USER.password]);
      await using service = await serveTopic(topic, directory, {
        ...{
          kafkaBrokers: addresses.saslTls,
          kafkaSsl: true,
          kafkaSslCa: certificates.ca,
          kafkaSaslMechanism: mechanism,
        },
        ...{ kafkaSaslUsername: SASL_USER.username, kafkaSaslPasswordFile: password },
      });
      await service.untilReady();
      expect(JSON.stringify([service.log, await service.status()])).not.toContain(SASL_USER.password);
    },
  );

  it('sends a client certificate where the broker requests one', async () => {
    const topic = await createTopic(addresses.plain);
    await topic.send(scanRows(14));
    const tls = { kafkaBrokers: addresses.tls, kafkaSslCa: certificates.ca };
    const { clientCert: kafkaSslCert, clientKey: kafkaSslKey } = certificates;
    await using service = await serveTopic(topic, directory, { ...tls, kafkaSslCert, kafkaSslKey });
    await service.untilReady();
    await using stranger = await serveTopic(topic, directory, { ...tls, data: directory.at('stranger') });
    await stranger.until('refused', async () => /cannot read topic/.test((await stranger.readyz()).reasons.join()));
  });
});

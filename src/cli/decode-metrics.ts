import type { Logger } from 'pino';
import type { DecoderFigures, PartitionFigures } from '../flat-decoder/figures.ts';
import { type HttpServer, startHttpServer } from '../http/http-server.ts';
import { counters, createMetrics, gauges } from '../http/prometheus.ts';

interface MeasuredDecoder {
  readonly figures: DecoderFigures;
  readonly lag: () => Promise<number | null>;
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
}

/** Serves `/metrics`, and `/livez` for what starts containers. */
export async function serveDecoderMetrics({ figures, lag, host, port, logger }: MeasuredDecoder): Promise<HttpServer> {
  const { registry } = createMetrics();
  const partitions = (): PartitionFigures[] => [...figures.partitions.values()];
  gauges(registry, {
    holdfast_decoder_partitions: { help: 'Partitions that this process decodes.', read: () => figures.partitions.size },
    holdfast_decoder_topic_partitions: {
      help: 'Partitions of the topic of updates: somebody must decode each.',
      read: () => figures.topicPartitions,
    },
    holdfast_decoder_stopped_partitions: {
      help: 'Partitions of this process that stopped at a message, by why.',
      label: 'cause',
      read: () => {
        const stopped = (cause: string): number => partitions().filter((each) => each.stopped === cause).length;
        return { halted: stopped('halted'), ahead_of_clock: stopped('ahead_of_clock') };
      },
    },
    holdfast_decoder_lag_messages: { help: 'Messages that the partitions of this process have left.', read: lag },
    holdfast_decoder_reached_timestamp_seconds: {
      help: 'Record time reached in the partition of this process that is furthest behind.',
      read: () => {
        const reached = partitions().flatMap((each) => (each.reached === null ? [] : [each.reached]));
        return reached.length === 0 ? null : Math.min(...reached) / 1_000_000;
      },
    },
  });
  counters(registry, {
    holdfast_decoder_messages_total: { help: 'Messages decoded.', read: () => figures.messages },
    holdfast_decoder_events_total: { help: 'Flat events written.', read: () => figures.events },
    holdfast_decoder_dead_letters_total: {
      help: 'Messages that could not be decoded, by what was decided.',
      label: 'decision',
      read: () => figures.deadLetters,
    },
  });
  const server = await startHttpServer({
    host,
    port,
    logger,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/livez') return new Response('alive\n');
      if (pathname !== '/metrics') return new Response('there is /metrics and /livez\n', { status: 404 });
      return new Response(await registry.metrics(), { headers: { 'content-type': registry.contentType } });
    },
  });
  logger.info({ url: server.url }, 'metrics are served');
  return server;
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../src/config.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, '..', name), 'utf8');

it('gives the container settings that the program knows', () => {
  const compose = [...read('docker-compose.yml').matchAll(/^ +(HOLDFAST_\w+): (.+)$/gm)];
  const image = [...read('Dockerfile').matchAll(/(HOLDFAST_\w+)=(\S+)/g)];
  const env = Object.fromEntries([...image, ...compose].map(([, name, value]) => [name!, value!]));
  const { config, warnings } = loadConfig({ options: {}, env });
  expect(warnings).toEqual([]);
  expect(config).toMatchObject({
    dataDir: '/data',
    host: '0.0.0.0',
    kafka: { brokers: ['kafka:9092'], topic: 'updates' },
  });
});

const NOTICE = /"msg":"(?:connecting to Kafka at|reading topic|reading where topic|waiting for Kafka at) [^"]*"/;

/** What `holdfast produce` wrote to standard error, but for what it says every few seconds while brokers keep it waiting. */
export function withoutNotices(stderr: string): string {
  return stderr
    .split('\n')
    .filter((line) => !NOTICE.test(line))
    .join('\n');
}

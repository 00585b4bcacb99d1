const JSON_HEADERS = { 'Content-Type': 'application/json' };

/** Plain header objects and text bodies are what @hono/node-server sends without making a web Response of them. */
export function jsonTextResponse(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(text, { status, headers: { ...JSON_HEADERS, ...headers } });
}

export function jsonResponse(status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  return jsonTextResponse(status, JSON.stringify(value), headers);
}

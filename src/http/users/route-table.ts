/** Which of the operations a method and a path ask for. Paths are matched by segment, each decoded once. */
export type RouteMatch<Route> =
  | { readonly kind: 'found'; readonly route: Route; readonly id: string }
  | { readonly kind: 'wrong method'; readonly methods: readonly string[] }
  | { readonly kind: 'undecodable'; readonly parameter: string }
  | { readonly kind: 'unknown path' };

interface Routable {
  readonly method: string;
  readonly path: string;
}

interface Pattern<Route> {
  readonly routes: readonly Route[];
  readonly segments: readonly string[];
  /** Where the path has its one parameter, or -1. */
  readonly parameterAt: number;
}

export function createRouteTable<Route extends Routable>(
  routes: readonly Route[],
): (method: string, rawPath: string) => RouteMatch<Route> {
  const patterns = [...Map.groupBy(routes, ({ path }) => path)].map(([path, routes]) => patternOf(path, routes));
  return (method, rawPath) => {
    const end = rawPath.length > 1 && rawPath.endsWith('/') ? rawPath.length - 1 : rawPath.length;
    const raw = rawPath.slice(1, end).split('/');
    const pattern = patterns.find((candidate) => matches(candidate, raw));
    if (pattern === undefined) return { kind: 'unknown path' };
    const wanted = method === 'HEAD' ? 'GET' : method;
    const route = pattern.routes.find((candidate) => candidate.method === wanted);
    if (route === undefined) return { kind: 'wrong method', methods: allowedMethods(pattern.routes) };
    const { parameterAt, segments } = pattern;
    if (parameterAt === -1) return { kind: 'found', route, id: '' };
    const id = decode(raw[parameterAt]!);
    if (id === null) return { kind: 'undecodable', parameter: segments[parameterAt]!.slice(1, -1) };
    return { kind: 'found', route, id };
  };
}

function patternOf<Route>(path: string, routes: readonly Route[]): Pattern<Route> {
  const segments = path.slice(1).split('/');
  return { routes, segments, parameterAt: segments.findIndex((segment) => segment.startsWith('{')) };
}

/** An empty segment is no id: `/v2/users//rights` are the rights of nobody. */
function matches({ segments, parameterAt }: Pattern<unknown>, raw: readonly string[]): boolean {
  if (segments.length !== raw.length) return false;
  return segments.every((segment, at) => (at === parameterAt ? raw[at] !== '' : segment === decode(raw[at]!)));
}

function decode(segment: string): string | null {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

function allowedMethods(routes: readonly Routable[]): readonly string[] {
  const methods = routes.map(({ method }) => method);
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}

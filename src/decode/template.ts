import { ENTITIES, type Entity, PACKAGE_NAME } from '../ledger/templates.ts';
import { fault } from './fault.ts';
import type { IgnoredEvent } from './ignored.ts';
import type { Wire } from './values.ts';

const TEMPLATE_EXPECTED =
  'a template id, <package id>:<Module>:<Entity> or #<package name>:<Module>:<Entity>, without control characters';
/** Those of Unicode's category Cc: U+0000 to U+001F and U+007F to U+009F. The separator in our own keys is one of them. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/** A wire format's names for the two fields that name a template. */
export interface TemplateFields {
  readonly templateId: string;
  readonly packageName: string;
}

/**
 * Template ids that were validated before: a feed has few different ones, and a look-up costs less than validating again.
 * Bounded, because a feed may have any; ids longer than a ledger's (64 characters for the package) are not kept.
 */
const known = new Map<string, Entity | 'other template'>();
const KNOWN_MAX = 256;
const KNOWN_CHARS_MAX = 512;

/** What a template id names, whatever the package; null for what is none. */
function entityOf(templateId: unknown): Entity | 'other template' | null {
  if (typeof templateId !== 'string') return null;
  const found = known.get(templateId);
  if (found !== undefined) return found;
  const entity = parseEntity(templateId);
  if (entity === null || templateId.length > KNOWN_CHARS_MAX) return entity;
  if (known.size === KNOWN_MAX) known.clear();
  known.set(templateId, entity);
  return entity;
}

function parseEntity(templateId: string): Entity | 'other template' | null {
  const [packagePart, ...rest] = templateId.split(':');
  if (rest.length !== 2 || packagePart === '' || rest.includes('') || CONTROL_CHARACTER.test(templateId)) return null;
  return ENTITIES.get(rest.join(':')) ?? 'other template';
}

/** Whether an event with this template id may be ours, so that more of it must be read. */
export function mayBeOurs(templateId: unknown): boolean {
  return entityOf(templateId) !== 'other template';
}

/**
 * Which entity of ours an event concerns, or why none. The package name decides; only where it is missing, the
 * `#<package name>:` of the template id does, because that prefix is not always the true name. A malformed id is bad,
 * because nothing shows which template it means.
 */
export function readEntity(
  event: Wire,
  fields: TemplateFields,
): Entity | Extract<IgnoredEvent, 'other template' | 'other package'> {
  const templateId = event[fields.templateId];
  const entity = entityOf(templateId) ?? fault(fields.templateId, templateId, TEMPLATE_EXPECTED);
  if (entity === 'other template') return entity;
  return packageOf(event[fields.packageName], templateId as string, fields) === PACKAGE_NAME ? entity : 'other package';
}

/** The package name that counts for a template of ours; BadUpdate where the event has none. */
export function packageOf(packageName: unknown, templateId: string, fields: TemplateFields): string {
  if (typeof packageName === 'string' && packageName !== '') return packageName;
  const packageEnd = templateId.indexOf(':');
  if ((packageName === undefined || packageName === null) && packageEnd > 1 && templateId.startsWith('#')) {
    return templateId.slice(1, packageEnd);
  }
  return fault(fields.packageName, packageName, 'a package name');
}

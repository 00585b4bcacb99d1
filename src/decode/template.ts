import type { Entity } from '../ledger/update.ts';
import { fault } from './fault.ts';
import type { IgnoredEvent } from './ignored.ts';

/** Package ids change with every upgrade: a template is ours by package name and `Module:Entity` (design.md section 6, rule 8). */
const OUR_PACKAGE = 'splice-amulet';
const OUR_TEMPLATES: readonly (readonly [suffix: string, entity: Entity])[] = [
  [':Splice.Amulet:Amulet', 'Amulet'],
  [':Splice.Amulet:LockedAmulet', 'LockedAmulet'],
  [':Splice.Round:OpenMiningRound', 'OpenMiningRound'],
];
const TEMPLATE_EXPECTED =
  'a template id, <package id>:<Module>:<Entity> or #<package name>:<Module>:<Entity>, without control characters';
/** Those of Unicode's category Cc: U+0000 to U+001F and U+007F to U+009F. What separates names in our own keys is one of them. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/** How a wire format calls the two fields that name a template. */
export interface TemplateFields {
  readonly templateId: string;
  readonly packageName: string;
}

/**
 * The entity of ours that an event is about, or why it is not about one. The package name decides; only where it is
 * missing, the `#<package name>:` of the template id does, because that prefix is not always the true name. An id that is none
 * is bad whatever it would name: what it is about is not known then.
 */
export function readEntity(
  template: { readonly templateId: unknown; readonly packageName: unknown },
  fields: TemplateFields,
): Entity | Extract<IgnoredEvent, 'other template' | 'other package'> {
  const { templateId } = template;
  if (typeof templateId !== 'string' || CONTROL_CHARACTER.test(templateId)) {
    return fault(fields.templateId, templateId, TEMPLATE_EXPECTED);
  }
  const packageEnd = templateId.indexOf(':');
  for (const [suffix, entity] of OUR_TEMPLATES) {
    if (packageEnd !== templateId.length - suffix.length || !templateId.endsWith(suffix) || packageEnd < 1) continue;
    return packageOf(template.packageName, templateId.slice(0, packageEnd), fields) === OUR_PACKAGE
      ? entity
      : 'other package';
  }
  const moduleEnd = templateId.indexOf(':', packageEnd + 1);
  const isTemplateId =
    packageEnd > 0 &&
    moduleEnd > packageEnd + 1 &&
    moduleEnd < templateId.length - 1 &&
    templateId.indexOf(':', moduleEnd + 1) === -1;
  return isTemplateId ? 'other template' : fault(fields.templateId, templateId, TEMPLATE_EXPECTED);
}

/** The package name that counts for a template of ours; BadUpdate where the event tells none. */
export function packageOf(packageName: unknown, packagePart: string, fields: TemplateFields): string {
  if (typeof packageName === 'string' && packageName !== '') return packageName;
  if ((packageName === undefined || packageName === null) && packagePart.length > 1 && packagePart.startsWith('#')) {
    return packagePart.slice(1);
  }
  return fault(fields.packageName, packageName, 'a package name');
}

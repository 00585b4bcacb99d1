import { z } from 'zod';
import { isHolding } from '../../src/decode/holding-view.ts';

/**
 * The two fields that name a template, for each case that matters. A name decides over the prefix of a template id; the
 * cases exclude each other, so that a union of them has one answer.
 */
const OURS = {
  Amulet: 'Splice\\.Amulet:Amulet',
  LockedAmulet: 'Splice\\.Amulet:LockedAmulet',
  OpenMiningRound: 'Splice\\.Round:OpenMiningRound',
} as const;
const ANY_OF_OURS = `(?:${Object.values(OURS).join('|')})`;

interface TemplateCase {
  readonly templateId: z.ZodType;
  readonly packageName: z.ZodType;
}

/** A part of a template id: no colon, and none of the control characters of `template.ts`. */
const PART = '[^:\\u0000-\\u001f\\u007f-\\u009f]+';

const missing = z.null().optional();

function templateId(pattern: string): z.ZodString {
  return z.string().regex(new RegExp(`^${pattern}$`));
}

/** A template of ours in our package, known by its name, or by the template id's prefix where the name is missing. */
export function ourTemplate(entity: keyof typeof OURS): readonly TemplateCase[] {
  return [
    { templateId: templateId(`${PART}:${OURS[entity]}`), packageName: z.literal('splice-amulet') },
    { templateId: templateId(`#splice-amulet:${OURS[entity]}`), packageName: missing },
  ];
}

/** What is ignored: other templates, and templates named like ours in other packages. */
export const otherTemplate: readonly TemplateCase[] = [
  { templateId: templateId(`(?!${PART}:${ANY_OF_OURS}$)${PART}:${PART}:${PART}`), packageName: z.unknown().optional() },
  { templateId: templateId(`${PART}:${ANY_OF_OURS}`), packageName: z.string().regex(/^(?!splice-amulet$)[\s\S]/) },
  { templateId: templateId(`#(?!splice-amulet:)${PART}:${ANY_OF_OURS}`), packageName: missing },
];

/** The views of a contract of another template that is ignored; with a Holding view it must have all that is used of a create. */
export const otherViews = z
  .unknown()
  .optional()
  .refine((views) => !isHolding(views))
  .describe('without a view of Splice.Api.Token.HoldingV1:Holding or HoldingV2:Holding');

import type { Database } from 'better-sqlite3';
import { type CoinEntity, ENTITIES, PACKAGE_NAME } from '../../ledger/templates.ts';
import { differsIn, type VerifyContext } from './types.ts';

interface TemplateRow {
  readonly id: bigint;
  readonly templateId: string;
  readonly packageName: string;
}

/** The coin entity of each template number. */
export function readTemplateEntities(db: Database): ReadonlyMap<bigint, string> {
  return new Map(templateRows(db).map(({ id, templateId }) => [id, coinEntityOf(templateId) ?? templateId]));
}

function coinEntityOf(templateId: string): CoinEntity | null {
  const entity = ENTITIES.get(templateId.replace(/^[^:]+:/, ''));
  return entity === undefined || entity === 'OpenMiningRound' ? null : entity;
}

function templateRows(db: Database): TemplateRow[] {
  const rows = db.prepare<[], TemplateRow>(
    'SELECT id, template_id AS templateId, package_name AS packageName FROM template ORDER BY id',
  );
  return rows.all();
}

/** Templates are numbered from 1 without gaps, and are all of coins. */
export function verifyTemplates(context: VerifyContext): void {
  const differs = differsIn(context, 'template');
  templateRows(context.db).forEach(({ id, templateId, packageName }, i) => {
    if (id !== BigInt(i + 1)) differs(`numbers from 1 without gaps, next ${i + 1}`, id);
    if (coinEntityOf(templateId) === null) differs(`row ${id}: a coin template`, templateId);
    if (packageName !== PACKAGE_NAME) differs(`row ${id}: package_name ${PACKAGE_NAME}`, packageName);
  });
}

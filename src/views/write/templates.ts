import type { Database } from 'better-sqlite3';

/** Template ids as the feed writes them, with their package names; few, so all are kept in memory. */
export class Templates {
  readonly #numbers = new Map<string, number>();
  readonly #insert;
  #added: { no: number; templateId: string; packageName: string }[] = [];

  constructor(db: Database) {
    const rows = db.prepare<[], { id: number; templateId: string; packageName: string }>(
      'SELECT id, template_id AS templateId, package_name AS packageName FROM template',
    );
    for (const row of rows.all()) this.#numbers.set(`${row.templateId}\n${row.packageName}`, row.id);
    this.#insert = db.prepare('INSERT INTO template VALUES (?, ?, ?)');
  }

  /** The number of `<template id>\n<package name>`, by first appearance in the feed. */
  numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const no = this.#numbers.size + 1;
    const [templateId = '', packageName = ''] = name.split('\n');
    this.#numbers.set(name, no);
    this.#added.push({ no, templateId, packageName });
    return no;
  }

  flush(): void {
    for (const { no, templateId, packageName } of this.#added) this.#insert.run(no, templateId, packageName);
  }

  settle(): void {
    this.#added = [];
  }
}

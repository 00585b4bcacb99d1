import Database from 'better-sqlite3';

/** Hears of every transaction of this thread, and on which connection. */
export function onTransaction(hear: (db: Database.Database) => void): Disposable {
  const prototype: { transaction: (...args: never[]) => unknown } = Database.prototype;
  const { transaction } = prototype;
  prototype.transaction = function (this: Database.Database, ...args: never[]): unknown {
    hear(this);
    return transaction.apply(this, args);
  };
  return {
    [Symbol.dispose]: () => {
      prototype.transaction = transaction;
    },
  };
}

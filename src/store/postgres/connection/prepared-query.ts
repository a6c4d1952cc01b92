// One execution of a prepared statement, as pg wants it. pg's own class looks at the columns of every answer anew, copies its options and
// makes three promises, which costs as much as the rest of a short read.

import pg from 'pg'
import type { Statement } from '../../tables/statement.ts'
import { fromStored } from '../../tables/stored-text.ts'

export const { Client } = pg

type Parse = (text: string) => unknown

/** How the columns of a statement are read, by the name of the statement. They are the same each time. */
export type KnownColumns = Map<string, readonly Parse[]>

/** Postgres's numbers for types. */
const BIGINT = 20
const TEXT = 25

function parserOf(type: number): Parse {
  if (type === BIGINT) return Number
  return type === TEXT ? fromStored : pg.types.getTypeParser(type, 'text')
}

export class PreparedQuery extends pg.Query {
  // pg reads these.
  declare name: string
  declare values: readonly unknown[]
  declare callback: (error: unknown, rows: unknown[][]) => void
  readonly #known: KnownColumns
  #columns: readonly Parse[] = []
  readonly #rows: unknown[][] = []
  #failure: unknown = null

  /** `done` gets an error, or null and the rows. */
  constructor(
    { name, text }: Statement,
    values: readonly unknown[],
    known: KnownColumns,
    done: PreparedQuery['callback'],
  ) {
    super(text)
    this.name = name
    this.values = values
    this.callback = done
    this.#known = known
  }

  handleRowDescription({ fields }: { fields: readonly { dataTypeID: number }[] }): void {
    const known = this.#known.get(this.name)
    this.#columns = known ?? fields.map(({ dataTypeID }) => parserOf(dataTypeID))
    if (known === undefined) this.#known.set(this.name, this.#columns)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push(fields.map((text, i) => (text === null ? null : this.#columns[i]?.(text))))
    } catch (error) {
      this.#failure = error
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(this.#failure, this.#rows)
  }
}

// Single connections to Postgres.

import { Socket } from 'node:net'
import type { Client } from 'pg'
import { ServerError } from '../../../domain/errors.ts'
import { shownStore } from '../../../domain/settings/store-settings.ts'
import type { Statement } from '../../tables/statement.ts'
import { toStored } from '../../tables/stored-text.ts'
import type { Sql } from '../sql.ts'
import { ConnectionFailed, sqlState } from './database-error.ts'
import type { KnownColumns, PreparedQuery } from './prepared-query.ts'

/** A connection. Statements are sent at once and answered in order, so several may be under way. */
export interface Connection extends Sql {
  /** Statements without values, in one message. */
  run(text: string): Promise<void>
  readonly isOpen: boolean
  /** Called when the connection is lost, not when it is closed. */
  onLost(listener: () => void): void
  onNotification(listener: (payload: string) => void): void
  /** Ends the connection after what is under way. */
  close(): Promise<void>
  /** Ends the connection at once. What is under way fails. */
  destroy(): void
}

/** Settings of the server for a connection, such as `lock_timeout`. */
export type Settings = Readonly<Record<string, string | number>>

/** Makes connections to the server of a URL that can be written to. */
export type Connect = (settings: Settings, answerWithinMs: number) => Promise<Connection>

const CONNECT_MS = 5_000
const CLOSE_MS = 2_000

/**
 * The URL may name several servers (`host1:5432,host2:5432`). They are tried in order until one answers that is not a standby, so
 * that a failover needs no restart. Throws `config_invalid` for a URL that can never work.
 */
export function createConnect(url: string): Connect {
  const hosts = hostUrls(url)
  return async (settings, answerWithinMs) => {
    let failure: unknown = null
    let refusal: ServerError | null = null
    for (const host of hosts) {
      try {
        return await connectTo(host, settings, answerWithinMs)
      } catch (error) {
        if (PERMANENT.has(sqlState(error))) refusal ??= refused(error, host)
        failure = error
      }
    }
    throw refusal ?? failure
  }
}

/** Wrong user or password, a database that does not exist, or no permission for it. */
const PERMANENT = new Set(['28P01', '28000', '3D000', '42501'])

const refused = (error: unknown, url: string): ServerError =>
  new ServerError(
    'config_invalid',
    `Postgres at ${shownStore(url)} refuses us: ${error instanceof Error ? error.message : 'it says no more'}. Check the store's URL.`,
    { cause: error },
  )

/** One URL for each server that it names. */
export function hostUrls(url: string): string[] {
  const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url)
  const [, start = '', hosts = '', rest = ''] = parts ?? []
  const urls = hosts.split(',').map((host) => `${start}${host}${rest}`)
  if (parts === null || urls.some((one) => !isUrl(one))) {
    throw new ServerError(
      'config_invalid',
      'The store is not a URL of Postgres. Write it like this: postgres://user:password@host:5432/database',
    )
  }
  return urls
}

/** pg understands a URL without a host, which is the local socket. */
const isUrl = (url: string): boolean => URL.canParse(url.replace(/\/\/([^@/?#]*@)?(?=[/?#]|$)/, '//$1localhost'))

async function connectTo(url: string, settings: Settings, answerWithinMs: number): Promise<Connection> {
  const { Client, PreparedQuery } = await import('./prepared-query.ts')
  const socket = new GatheringSocket()
  const client = new Client({
    connectionString: url,
    stream: () => socket,
    pipeline: true,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: answerWithinMs,
    fallback_application_name: 'quarterdeck',
  })
  const lost: (() => void)[] = []
  let isOpen = true
  const end = () => {
    if (!isOpen) return
    isOpen = false
    socket.destroy()
    for (const listener of lost) listener()
  }
  client.on('error', end)
  client.on('end', end)
  try {
    await client.connect()
    const sets = Object.entries(settings).map(([name, value]) => `SET ${name} = '${value}';`)
    await client.query(`${sets.join(' ')} ${REFUSE_STANDBY}`)
  } catch (error) {
    isOpen = false
    socket.destroy()
    throw sqlState(error) === '' ? new ConnectionFailed(error) : error
  }
  return {
    ...statementsOn(client, PreparedQuery, () => isOpen),
    get isOpen() {
      return isOpen
    },
    onLost: (listener) => void lost.push(listener),
    async close() {
      isOpen = false
      // A server that hangs does not answer.
      const giveUp = setTimeout(() => socket.destroy(), CLOSE_MS)
      await client.end().finally(() => clearTimeout(giveUp))
    },
    destroy() {
      isOpen = false
      socket.destroy()
    },
  }
}

/** What Node's streams say instead of the encoding of a text. Its types do not know it. */
const BYTES = 'buffer' as BufferEncoding

/** Sends what was gathered as one piece. To hand the system a hundred small ones costs more than to copy them. */
class GatheringSocket extends Socket {
  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), BYTES, done)
  }
}

/** Fails on a standby, as a write would (25006). */
const REFUSE_STANDBY = `DO $$ BEGIN
  IF pg_is_in_recovery() THEN RAISE EXCEPTION 'this server is a standby' USING ERRCODE = '25006'; END IF;
END $$`

function statementsOn(
  client: Client,
  Query: typeof PreparedQuery,
  isOpen: () => boolean,
): Pick<Connection, 'rows' | 'run' | 'onNotification'> {
  /** Errors of the driver say that there is no connection any more. */
  function failureOf(error: unknown): unknown {
    const isLost = sqlState(error) === '' && (!isOpen() || /timeout|not queryable/.test(String(error)))
    return isLost ? new ConnectionFailed(error) : error
  }

  const { stream } = client.connection
  const columns: KnownColumns = new Map()
  let isCorked = false
  /** What is sent in one go leaves in one piece. */
  function gather(): void {
    if (isCorked) return
    isCorked = true
    stream.cork()
    process.nextTick(() => {
      isCorked = false
      stream.uncork()
    })
  }

  return {
    rows: <Row extends readonly unknown[]>(statement: Statement, values = noValues) =>
      new Promise<Row[]>((resolve, reject) => {
        gather()
        const query = new Query(statement, values.map(storedValue), columns, (error, rows) =>
          error == null ? resolve(rows as unknown[] as Row[]) : reject(failureOf(error)),
        )
        client.query(query)
      }),
    run(text) {
      gather()
      return client.query(text).then(
        () => {},
        (error: unknown) => {
          throw failureOf(error)
        },
      )
    },
    onNotification: (listener) => void client.on('notification', ({ payload = '' }) => listener(payload)),
  }
}

const noValues: readonly unknown[] = []

function storedValue(value: unknown): unknown {
  if (typeof value === 'string') return toStored(value)
  if (typeof value === 'number') return whole(value)
  if (!Array.isArray(value)) return value
  if (value.every(isText) && value.some(isString)) return textArray(value)
  return value.every(isPlain) ? arrayText(value) : value.map(storedValue)
}

/** All our numbers are whole, as those of Postgres's bigint. A time or a duration may come with a fraction, which nobody needs. */
const whole = Math.floor

type Plain = string | number | boolean | null | undefined

const isPlain = (value: unknown): value is Plain => value == null || typeof value !== 'object'

/** Numbers or booleans as Postgres writes them. The driver does the same, in several times the time. */
const arrayText = (values: readonly Plain[]): string =>
  `{${values.map((value) => (typeof value === 'number' ? whole(value) : (value ?? 'NULL'))).join()}}`

const isString = (value: unknown): value is string => typeof value === 'string'
const isText = (value: unknown): value is string | null | undefined => value == null || isString(value)

const ARRAY_HEAD_BYTES = 20
/** Postgres's number for the type. */
const TEXT = 25

/** Texts in Postgres's binary form. To escape the JSON of one answer as text took 180 µs, this takes 12. */
function textArray(values: readonly (string | null | undefined)[]): Buffer {
  const texts = values.map((value) => (value == null ? null : toStored(value)))
  const sizes = texts.map((text) => (text === null ? -1 : Buffer.byteLength(text)))
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + 4 + Math.max(size, 0), ARRAY_HEAD_BYTES))
  let at = 0
  // One dimension, nulls allowed, the type of an element, how many there are, the number of the first one.
  for (const part of [1, 1, TEXT, texts.length, 1]) at = bytes.writeInt32BE(part, at)
  for (const [i, text] of texts.entries()) {
    at = bytes.writeInt32BE(sizes[i] ?? -1, at)
    if (text !== null) at += bytes.write(text, at)
  }
  return bytes
}

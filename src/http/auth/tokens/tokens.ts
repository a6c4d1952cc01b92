// The table of tokens of one server: what the settings give, what is kept as hashes in the token file, or one of the operator's that
// lives in memory alone. The file is read once. What is changed in it while the server runs does not count.

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { AuditRecord } from '../../../domain/audit.ts'
import type { Clock } from '../../../domain/clock.ts'
import { ServerError } from '../../../domain/errors.ts'
import type { Ids } from '../../../domain/ids.ts'
import type { Logger } from '../../../domain/logger.ts'
import { LOCAL_USER } from '../../../domain/session.ts'
import type { ConfigFileOptions } from '../config-folder/config-file.ts'
import { readOldTokens } from './old-token-file.ts'
import {
  checkTokens,
  checkTokenText,
  digestOf,
  newToken,
  type Token,
  type TokenRecord,
  type TokenRole,
  tokenRoles,
} from './token.ts'
import { createTokenFile } from './token-file.ts'

export interface NewToken {
  name: string
  /** Owns what the token begins. */
  user: string
  role: TokenRole
}

export interface Tokens {
  /** The valid ones; the same array while they have not changed. */
  current(): readonly Token[]
  /** Those that can be revoked, oldest first. What a setting gives is not among them. */
  list(): readonly TokenRecord[]
  /** Valid and on disk when it resolves. Its text is in the result and nowhere else. Throws `conflict` when there are too many. */
  create(wanted: NewToken, by: string): Promise<{ record: TokenRecord; token: string }>
  /** Not valid any more when it resolves, nor after a restart. Throws `token_not_found`. */
  revoke(id: string, by: string): Promise<void>
  /** Where they are kept; null: nowhere. */
  readonly path: string | null
  /** The operator's token, where a setting gives it or it lives in memory alone; null: this process does not know its text. */
  readonly operatorToken: string | null
}

export interface TokensOptions {
  dataDir: string
  /** Null: nothing is kept, and the operator's token lives in memory alone. */
  kept: Pick<ConfigFileOptions, 'configDir' | 'makeFolder'> | null
  /** Tokens that the settings give. */
  set: Readonly<Record<TokenRole, string | null>>
  clock: Clock
  ids: Ids
  log: Logger
  random?: (size: number) => Uint8Array
}

/** Appends to the audit trail; resolves when it is on disk. */
export type WriteAudit = (record: AuditRecord) => Promise<unknown>

/** Read and checked; nothing has been written yet. */
export interface ReadTokens extends Tokens {
  /** False: nobody will have a token once `begin` is done. */
  hasAny(make: boolean): boolean
  /**
   * What a start has to do before anybody may ask: takes `tokens.json` over, and with `make`, where none is kept, makes one for
   * each role that the settings give none for. Gives what it has made, to be shown once. Comes before `create` and `revoke`.
   */
  begin(audit: WriteAudit, options: { make: boolean }): Promise<MadeTokens | null>
}

export type MadeTokens = Partial<Record<TokenRole, string>>

const MAX_TOKENS = 1_000

/** Throws `config_invalid` when a file or a setting cannot be used. The caller holds the lock of the data directory. */
export function readTokens(options: TokensOptions): ReadTokens {
  const { dataDir, kept, set, clock, ids, log, random = randomBytes } = options
  const file = kept === null ? null : createTokenFile({ ...kept, dataDir })
  const found = file?.read() ?? null
  const oldPath = join(dataDir, 'tokens.json')
  const old = file === null ? null : readOld()
  const operatorToken = set.operator ?? (file === null ? newToken(random) : null)
  const given = [['user', set.user] as const, ['operator', operatorToken] as const].flatMap(([role, token]) => {
    if (token === null) return []
    checkTokenText(token, role)
    return [{ id: null, user: LOCAL_USER, role, sha256: digestOf(token) }]
  })
  let audit: WriteAudit | null = null
  let records: readonly TokenRecord[] = found ?? []
  let table: readonly Token[] = checkTokens([...given, ...records])

  /** The tokens to take over; `refused` once that is done and what lies there now is not what was taken. */
  function readOld(): ReturnType<typeof readOldTokens> | 'refused' {
    try {
      const tokens = readOldTokens(oldPath, { user: set.user !== null, operator: set.operator !== null })
      const isKnown = tokens?.every(({ sha256 }) => found?.some((record) => record.sha256 === sha256)) ?? true
      // Whoever can write into the data directory could otherwise make themselves an operator.
      return found === null || isKnown ? tokens : 'refused'
    } catch (error) {
      if (found === null) throw error
      // Nor may they keep the server from starting.
      return 'refused'
    }
  }

  /** On disk first: what is valid now is valid after a restart, and what is not is not. */
  function keep(next: readonly TokenRecord[]): void {
    const nextTable = checkTokens([...given, ...next])
    file?.write(next)
    records = next
    table = nextTable
  }

  const newRecord = (token: Omit<TokenRecord, 'id' | 'created_at'>): TokenRecord => ({
    id: ids.uuid(),
    name: token.name,
    user: token.user,
    role: token.role,
    sha256: token.sha256,
    created_at: new Date(clock.now()).toISOString(),
  })

  async function write(kind: 'token_created' | 'token_revoked', { id, name, user, role }: TokenRecord, by: string) {
    if (audit === null) throw new Error('a token was changed before the start was done with them')
    const about = { session: null, run: null, agent: '', tool: '', call: null }
    await audit({ at: clock.now(), kind, by, ...about, details: { token: id, name, user, role } })
  }

  async function create({ name, user, role }: NewToken, by: string): Promise<{ record: TokenRecord; token: string }> {
    if (records.length >= MAX_TOKENS) {
      throw new ServerError('conflict', `There are ${MAX_TOKENS} tokens already. Revoke those that nobody uses.`)
    }
    const token = newToken(random)
    const record = newRecord({ name, user, role, sha256: digestOf(token) })
    // First of all, so that no token works that the trail does not name.
    await write('token_created', record, by)
    keep([...records, record])
    return { record, token }
  }

  async function takeOver(tokens: NonNullable<typeof old>): Promise<void> {
    if (tokens === 'refused') {
      log.warn(
        'tokens.json in the data directory is not read any more: remove it. `quarterdeck tokens` makes new tokens',
        { path: oldPath, token_file: file?.path },
      )
      return
    }
    if (found === null) {
      const taken = tokens.map(newRecord)
      for (const record of taken) await write('token_created', record, 'tokens.json')
      keep(taken)
    }
    // Else a crash came between writing the one and removing the other.
    removeOld(oldPath)
    log.info('the tokens of tokens.json were taken over and the file was removed; they stay valid', {
      tokens: tokens.length,
      token_file: file?.path,
    })
  }

  return {
    current: () => table,
    list: () => records,
    create,
    path: file?.path ?? null,
    operatorToken,
    async revoke(id, by) {
      const record = records.find((one) => one.id === id)
      if (record === undefined) throw new ServerError('token_not_found', `There is no token ${JSON.stringify(id)}.`)
      keep(records.filter((one) => one !== record))
      await write('token_revoked', record, by)
    },
    hasAny: (make) => table.length > 0 || (old !== null && old !== 'refused' && old.length > 0) || make,
    async begin(writeAudit, { make }) {
      audit = writeAudit
      if (file === null) return null
      if (old !== null) await takeOver(old)
      const made: MadeTokens = {}
      if (make && records.length === 0) {
        for (const role of tokenRoles) {
          if (set[role] !== null) continue
          made[role] = (await create({ name: 'first start', user: LOCAL_USER, role }, 'server')).token
        }
      }
      if (found === null && records.length === 0) rememberStart(() => keep([]), log)
      return Object.keys(made).length === 0 ? null : made
    },
  }
}

/** An empty file says that there was no `tokens.json` to take over: one that turns up later was put there by somebody. */
function rememberStart(write: () => void, log: Logger): void {
  try {
    write()
  } catch (error) {
    // Nothing has to be kept, so a server whose tokens are set may do without the folder.
    log.debug('the config folder cannot be written', { error })
  }
}

function removeOld(path: string): void {
  try {
    rmSync(path)
  } catch (cause) {
    // Left there it would be taken over again by a server that has forgotten what was revoked meanwhile.
    throw new ServerError(
      'config_invalid',
      `${path} was taken over and cannot be removed. Remove it, then start again.`,
      {
        details: { path },
        cause,
      },
    )
  }
}

/** What to do where nobody can decide. */
export function noOperatorToken(dataDir: string): string {
  const named = /^[\w@%+=:,./-]+$/.test(dataDir) ? dataDir : JSON.stringify(dataDir)
  const command = `quarterdeck tokens create --role operator --data-dir ${named}`
  return (
    `There is no operator token: set QUARTERDECK_OPERATOR_TOKEN or run \`${command}\` while no server runs. ` +
    'A data directory that was moved needs new tokens.'
  )
}

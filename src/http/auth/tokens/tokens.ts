// All tokens of one server: tokens from the settings, stored hashes, or an operator token that exists only in memory. A token file is
// read once. Changes to it while the server runs have no effect.

import type { Clock } from '../../../domain/clock.ts'
import { hasCode, ServerError } from '../../../domain/errors.ts'
import type { Ids } from '../../../domain/ids.ts'
import type { Logger } from '../../../domain/logger.ts'
import { present } from '../../../domain/present.ts'
import { LOCAL_USER } from '../../../domain/session/session.ts'
import type { AuditRecord } from '../../../domain/supervision/audit.ts'
import type { PersonRole, Scope, TokenRole } from '../../../domain/supervision/token-role.ts'
import type { RecordFile } from '../config-folder/record-file.ts'
import { checkTokenText, digestOf, newToken, type Token, type TokenRecord } from './token.ts'
import { createTokenRows, type TokensPlace } from './token-rows.ts'
import { openTokenTable } from './token-table.ts'

export interface NewToken {
  name: string
  /** Owns the sessions that are started with the token. */
  user: string
  role: TokenRole
  /** The folder that an agent works in. Only the role `agent` has one, and it must have one. */
  workspace?: string | undefined
  /** Only for the role `agent`. */
  channel?: string | undefined
  /** What it is limited to; undefined: everything that the role may do. Not for the role `agent`. */
  scopes?: readonly Scope[] | undefined
  /** The only agent that it may talk to. Not for the role `agent`. */
  agent?: string | undefined
  /** In how many seconds it ends; undefined: never. */
  expires_in?: number | undefined
}

export interface Tokens {
  /** The valid tokens. Returns a new array only after a change. */
  current(): readonly Token[]
  /** Tokens that can be revoked, oldest first. Tokens from settings are not included. */
  list(): readonly TokenRecord[]
  /** Looks at once for what other processes have changed. */
  refresh(): Promise<void>
  /** False: another process may have revoked a token of which this one has not heard. `refresh` before it counts. */
  isFresh(): boolean
  /**
   * The token is valid and on disk when it resolves. Its text is only in the result. Throws `conflict` if there are too many, and
   * `invalid_request` or `forbidden` if an agent may not work in the folder, report to the channel or belong to the user.
   */
  create(wanted: NewToken, by: string): Promise<{ record: TokenRecord; token: string }>
  /**
   * The token is invalid in all processes when it resolves, also after a restart. Throws `token_not_found`, and what `check` throws, which
   * sees it first.
   */
  revoke(id: string, by: string, check?: (record: TokenRecord) => void): Promise<void>
  /** The token file. Null: tokens are stored elsewhere, or not at all. */
  readonly path: string | null
  /** The operator's token, if it comes from a setting or exists only in memory. Null: this process does not know its text. */
  readonly operatorToken: string | null
}

export interface TokensOptions {
  /** The records of this server alone: those of the token file, if there is one. */
  own: TokensPlace
  /** Null: nothing is stored, and the operator's token exists only in memory. */
  file: Pick<RecordFile, 'path' | 'begin'> | null
  /** Tokens from the settings. */
  set: Readonly<Record<PersonRole, string | null>>
  clock: Clock
  ids: Ids
  log: Logger
  /** Says where agents may work. */
  workspaces: AgentPlaces
  /** Throws `forbidden` for a user who may own no session of an agent elsewhere. */
  checkOwner: (user: string) => void
}

/** What a token of an agent is bound to. */
export interface AgentPlaces {
  /** The real path of a workspace. Throws `forbidden` and `invalid_request`. */
  find(asked: string): { path: string }
  /** Throws `forbidden`. */
  checkChannel(channelId: string): void
}

/** Appends to the audit trail. Resolves when the record is on disk. */
export type WriteAudit = (record: AuditRecord) => Promise<unknown>

/** The tokens are read and checked. Nothing has been written yet. */
export interface ReadTokens extends Tokens {
  /** False: nobody will have a token after `begin`. */
  hasAny(make: boolean): boolean
  /**
   * Must run before the server answers, and before `create` and `revoke`. With `make`, if no token is stored and the settings have none for an
   * operator, it creates that one and returns it, so that it can be shown once. `place` is where tokens are stored from now on. If it is
   * not that of the token file and never had any, those of the file are imported into it.
   */
  begin(audit: WriteAudit, options: { make: boolean; place: TokensPlace }): Promise<string | null>
}

const MAX_TOKENS = 1_000
const SHOW_ENDED_MS = 30 * 24 * 60 * 60_000

/** Throws `config_invalid` if a file or a setting cannot be used. */
export async function readTokens(options: TokensOptions): Promise<ReadTokens> {
  const { own, file, set, clock, ids, log, workspaces, checkOwner } = options
  const operatorToken = set.operator ?? (file === null ? newToken() : null)
  const given = [['user', set.user] as const, ['operator', operatorToken] as const].flatMap(([role, token]) => {
    if (token === null) return []
    checkTokenText(token, role)
    return [{ id: null, user: LOCAL_USER, role, sha256: digestOf(token) }]
  })
  const table = await openTokenTable(given, createTokenRows(own, log))
  let isInFile = file !== null
  let audit: WriteAudit | null = null

  async function write(kind: 'token_created' | 'token_revoked', record: TokenRecord, by: string) {
    const { id, name, user, role, workspace, scopes, agent, expires_at } = record
    if (audit === null) throw new Error('a token was changed before begin() was called')
    const about = { session: null, run: null, agent: '', tool: '', call: null }
    await audit({
      at: clock.now(),
      kind,
      by,
      ...about,
      details: present({
        token: id,
        name,
        user,
        role,
        workspace,
        scopes: scopes?.join(' '),
        limited_to_agent: agent,
        expires_at,
      }),
    })
  }

  async function create(wanted: NewToken, by: string): Promise<{ record: TokenRecord; token: string }> {
    const { name, user, role, expires_in } = wanted
    if (role === 'agent') checkOwner(user)
    const bound: Bound = role === 'agent' ? placeOf(wanted, workspaces) : limitsOf(wanted)
    const expires_at = expires_in === undefined ? undefined : new Date(clock.now() + expires_in * 1000).toISOString()
    await removeEnded()
    if (table.records().length >= MAX_TOKENS) {
      throw new ServerError('conflict', `There are already ${MAX_TOKENS} tokens. Revoke those that nobody uses.`)
    }
    const token = newToken()
    const record: TokenRecord = present({
      id: ids.uuid(),
      name,
      user,
      role,
      ...bound,
      expires_at,
      sha256: digestOf(token),
      created_at: new Date(clock.now()).toISOString(),
    })
    // The audit comes first, so that no token works that is not in the trail.
    await write('token_created', record, by)
    await table.add([record])
    return { record, token }
  }

  /** They are kept for a while, so that people see why something is refused. Those that are made for minutes must not fill the table. */
  async function removeEnded(): Promise<void> {
    for (const { id, created_at, expires_at } of table.records()) {
      if (expires_at === undefined) continue
      const endsAt = Date.parse(expires_at)
      const isFull = table.records().length >= MAX_TOKENS
      const shownMs = isFull ? 0 : Math.min(endsAt - Date.parse(created_at), SHOW_ENDED_MS)
      if (endsAt + shownMs <= clock.now()) await table.remove(id)
    }
  }

  return {
    current: table.current,
    list: table.records,
    create,
    get path() {
      return isInFile ? (file?.path ?? null) : null
    },
    operatorToken,
    refresh: table.refresh,
    isFresh: table.isFresh,
    async revoke(id, by, check) {
      const known = () => table.records().find((one) => one.id === id)
      // Another process may have made it a moment ago.
      if (known() === undefined) await table.refresh()
      const record = known()
      if (record !== undefined) check?.(record)
      if (record === undefined || !(await table.remove(id))) {
        // It may have been revoked by a request that nobody answered. Then it must not count any more either.
        await table.heard()
        throw tokenNotFound(id)
      }
      await Promise.all([write('token_revoked', record, by), table.heard()])
    },
    hasAny: (make) => table.current().length > 0 || make,
    async begin(writeAudit, { make, place }) {
      audit = writeAudit
      const isMoved = place.shared !== own.shared
      if (file === null && !isMoved) return null
      isInFile = !isMoved
      const copied = isMoved ? await table.moveTo(createTokenRows(place, log)) : 0
      if (copied > 0) log.info('the tokens of the token file were copied into the store', { tokens: copied })
      let made: string | null = null
      if (make && table.records().length === 0 && set.operator === null) {
        made = (await create({ name: 'first start', user: LOCAL_USER, role: 'operator' }, 'server')).token
      }
      if (file !== null && table.records().length === 0) await (isMoved ? table.add([]) : writeEmptyFile(file, log))
      return made
    },
  }
}

const tokenNotFound = (id: string): ServerError =>
  new ServerError('token_not_found', `There is no token ${JSON.stringify(id)}.`)

/** What restricts a token. */
type Bound = Pick<NewToken, 'workspace' | 'channel' | 'scopes' | 'agent'>

const limitsOf = ({ scopes, agent }: NewToken): Bound => ({ scopes: scopes && [...new Set(scopes)], agent })

function placeOf({ workspace, channel }: NewToken, workspaces: AgentPlaces): Bound {
  if (workspace === undefined) throw unfit('The role agent needs the folder that the agent works in.')
  if (channel !== undefined) workspaces.checkChannel(channel)
  try {
    return { workspace: workspaces.find(workspace).path, channel }
  } catch (error) {
    throw hasCode(error, 'invalid_request') ? unfit(error.message) : error
  }
}

const unfit = (detail: string): ServerError =>
  new ServerError('invalid_request', 'No token can be made for an agent in this folder.', {
    problems: [{ pointer: '/workspace', detail }],
  })

/** An empty token file shows people which name it has for this data directory: the tokens of one that was moved are renamed to it. */
async function writeEmptyFile(file: Pick<RecordFile, 'begin'>, log: Logger): Promise<void> {
  try {
    file.begin()
  } catch (error) {
    // Nothing has to be stored, so a server with tokens from settings works without the folder.
    log.debug('the config folder cannot be written', { error })
  }
}

/** Says what to do when there is no operator token. Null: the tokens are in a database that several servers share. */
export function noOperatorToken(dataDir: string | null): string {
  if (dataDir === null) {
    return 'There is no operator token: set QUARTERDECK_OPERATOR_TOKEN or run `quarterdeck tokens create --role operator` with the same QUARTERDECK_STORE.'
  }
  const named = /^[\w@%+=:,./-]+$/.test(dataDir) ? dataDir : JSON.stringify(dataDir)
  const command = `quarterdeck tokens create --role operator --data-dir ${named}`
  return (
    `There is no operator token: set QUARTERDECK_OPERATOR_TOKEN or run \`${command}\` while no server runs. ` +
    'A data directory that was moved needs new tokens.'
  )
}

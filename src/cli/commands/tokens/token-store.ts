// Tokens are changed through the data directory, under its lock, while no server runs; otherwise through the running server. On a Postgres
// store they are changed there, beside the servers.

import { existsSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { agentPaths, loadConfig } from '../../../app/load-config.ts'
import { findConfigDir } from '../../../config/config-dir.ts'
import { resolveSettings } from '../../../config/settings/resolve-settings.ts'
import { findSettingsFile } from '../../../config/settings/settings-yaml.ts'
import { diskFiles } from '../../../config/source/config-files.ts'
import { sleep } from '../../../domain/clock.ts'
import { createIds } from '../../../domain/ids.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { silentLogger } from '../../../domain/logger.ts'
import { LOCAL_USER } from '../../../domain/session/session.ts'
import { openConfigRecords } from '../../../http/auth/config-folder/config-records.ts'
import { createServerAddress } from '../../../http/auth/config-folder/server-address.ts'
import type { TokenRecord } from '../../../http/auth/tokens/token.ts'
import { listTokenRows, type TokensPlace } from '../../../http/auth/tokens/token-rows.ts'
import { type NewToken, readTokens, type TokensOptions } from '../../../http/auth/tokens/tokens.ts'
import { findCtlPlace } from '../../../operators/ctl/socket.ts'
import { CreatedTokenSchema, TokenListSchema, TokenSchema } from '../../../protocols/manage/tokens/schema.ts'
import { createOwnChanges } from '../../../replicas/replica.ts'
import { createSharedChanges } from '../../../replicas/shared-changes.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { makeFolder } from '../../../store/make-folder.ts'
import type { Store } from '../../../store/store.ts'
import { configuredOperators, refuseUnknownOwner } from '../../../supervision/sessions/may-command.ts'
import { createWorkspaces } from '../../../supervision/workspace/allowed-workspace.ts'
import { cannotCreate, failure, usageError } from '../../cli-error.ts'
import { dataDirectory, isLocked, withStore } from '../../data-directory.ts'
import { baseOf, isReadableByOthers, noServerAt, operatorTokenIn, readServerUrl } from '../../server-url.ts'
import { shownPlace, storePlace, withSharedReads, withSharedStore, writeAudit } from '../../store-place.ts'
import type { Io } from '../../terminal/io.ts'
import { askSecret } from '../../terminal/terminal-prompt.ts'
import { terminalText } from '../../terminal/terminal-text.ts'

// A newer server may say more than this version knows.
const ShownTokenSchema = TokenSchema.strip()
const MadeTokenSchema = CreatedTokenSchema.strip()
const ListSchema = TokenListSchema.extend({ tokens: z.array(ShownTokenSchema) }).strip()
export type ShownToken = Omit<TokenRecord, 'sha256'>

export type WantedToken = Omit<NewToken, 'user'> & { user?: string }

export interface TokenStore {
  /** The server or the folder, to show to people. */
  where: string
  list(): Promise<readonly ShownToken[]>
  /** Without a user it is for whoever asks: the operator whose token is sent, otherwise the local user. */
  create(wanted: WantedToken): Promise<ShownToken & { token: string }>
  revoke(id: string): Promise<void>
}

/** In that time another command ends, or a starting server writes down its address. */
const LOCK_TRIES = 10
const LOCK_WAIT_MS = 300

export interface TokenPlace {
  dataDir?: string | undefined
  url?: string | undefined
}

/** Throws `CliError` and `ServerError`. */
export async function withTokenStore<T>(
  named: TokenPlace,
  io: Io,
  work: (tokens: TokenStore) => Promise<T>,
): Promise<T> {
  if (named.url !== undefined) return await work(await openServer(safeAddress(named.url), null, io))
  const place = await storePlace({ dataDir: named.dataDir }, io)
  if ('url' in place) return await withSharedTokens(place, io, work)
  const usual = place.dataDir
  // Before the first start, an agent in this folder says which data directory its server will use.
  const isNew = usual === resolve(io.cwd, '.quarterdeck') && !existsSync(usual)
  const hasAgent = isNew && agentPaths([], io).length > 0
  const directory = hasAgent ? loadConfig({ files: [], flags: {} }, io).dataDir : usual
  checkOwner(directory)
  // A folder that the person named may be created, also before the first start.
  const create = hasAgent || !isNew
  for (let left = LOCK_TRIES; ; left--) {
    try {
      return await withStore(directory, { create }, io, async (store) => {
        const { kinds, tokens: file } = openConfigRecords({ ...keptFor(io), dataDir: directory }, silentLogger)
        const own = { shared: createLocalShared(io.clock, kinds), changes: createOwnChanges() }
        return await work(await openTokens(directory, directory, { own, file }, own, store, io))
      })
    } catch (error) {
      if (!isLocked(error)) throw error
    }
    const address = createServerAddress({ ...keptFor(io), dataDir: directory }).read()
    if (address !== null) return await work(await openServer(address, directory, io))
    if (left === 0) {
      throw cannotCreate(`Another Quarterdeck is using ${directory}, and its address is not known.`, [
        'Give its address with --url <address>, or stop it and run this command again.',
      ])
    }
    await sleep(io.clock, LOCK_WAIT_MS)
  }
}

/** Like `list` of `withTokenStore`, but changes nothing in a shared store: throws `data_dir_older` instead of running a migration. */
export async function listTokens(named: TokenPlace, io: Io): Promise<{ where: string; tokens: readonly ShownToken[] }> {
  const place = named.url === undefined ? await storePlace({ dataDir: named.dataDir }, io) : null
  if (place === null || 'dataDir' in place) {
    // Looked for once: the person is told which server was found.
    const found = place === null ? named : { dataDir: place.dataDir }
    return await withTokenStore(found, io, async (store) => ({ where: store.where, tokens: await store.list() }))
  }
  return await withSharedReads(place, io, async ({ shared }) => ({
    where: shownPlace(place),
    tokens: (await listTokenRows(shared, silentLogger)).map(view),
  }))
}

/** Tokens are stored for the server's user. Root can open the directory of a service, but the service never reads what root stores. */
function checkOwner(directory: string): void {
  const owner = statSync(directory, { throwIfNoEntry: false })?.uid
  if (owner === undefined || owner === 0 || process.geteuid?.() !== 0) return
  throw usageError(`${directory} and the tokens of its server belong to another user (uid ${owner}).`, [
    `Run this command as that user (sudo -u '#${owner}' …) with the same QUARTERDECK_CONFIG_DIR, or name a running server with --url <address>.`,
  ])
}

const keptFor = (io: Io) => ({ configDir: findConfigDir(io.env, process.platform), makeFolder })

/** Whoever has the address of the database, with its password, may do everything there. */
const withSharedTokens = <T>(place: { url: string }, io: Io, work: (tokens: TokenStore) => Promise<T>): Promise<T> =>
  withSharedStore(place, io, async ({ store }) => {
    const deps = { shared: store.shared, owner: 'command line', clock: io.clock, logger: silentLogger }
    const { tell, heard } = createSharedChanges(deps)
    // A command ends before it could miss what servers change.
    const { keep } = createOwnChanges()
    const there = { shared: store.shared, changes: { tell, heard, keep } }
    const own = { shared: createLocalShared(io.clock), changes: createOwnChanges() }
    const dataDir = dataDirectory(undefined, io)
    return await work(await openTokens(shownPlace(place), dataDir, { own, file: null }, there, store, io))
  })

async function openTokens(
  where: string,
  dataDir: string,
  parts: Pick<TokensOptions, 'own' | 'file'>,
  place: TokensPlace,
  store: Pick<Store, 'commit'>,
  io: Io,
): Promise<TokenStore> {
  const tokens = await readTokens({
    ...parts,
    set: { user: null, operator: null },
    clock: io.clock,
    ids: createIds(() => io.clock.now()),
    log: silentLogger,
    ...agentRules(dataDir, io),
  })
  await tokens.begin((record) => writeAudit(store, record), { make: false, place })
  const by = 'command line'
  return {
    where,
    list: async () => tokens.list().map(view),
    async create(wanted) {
      const { record, token } = await tokens.create({ ...wanted, user: wanted.user ?? LOCAL_USER }, by)
      return { ...view(record), token }
    },
    revoke: (id) => tokens.revoke(id, by),
  }
}

/** What the server's settings say, if they are where it usually finds them. The server looks again when the agent comes. */
function agentRules(dataDir: string, io: Io): Pick<TokensOptions, 'workspaces' | 'checkOwner'> {
  const readRules = () => {
    const file = findSettingsFile(io.cwd, diskFiles) ?? findSettingsFile(dirname(dataDir), diskFiles)
    return resolveSettings({ code: {}, flags: {}, env: io.env, file, onTerminal: false }).settings.supervision
  }
  const open = () => {
    const { configDir } = keptFor(io)
    const place = { env: io.env, configDir, dataDir, ipcName: null, platform: process.platform }
    const own = { configDir, dataDir, runtimeDir: findCtlPlace(place).runtimeDir, home: homedir() }
    return createWorkspaces(readRules(), own)
  }
  return {
    workspaces: { find: (asked) => open().find(asked), checkChannel: (channelId) => open().checkChannel(channelId) },
    checkOwner(user) {
      const { operators, operatorGroups } = readRules()
      refuseUnknownOwner(configuredOperators(operators, [], operatorGroups), user)
    },
  }
}

const view = ({ sha256: _, ...record }: TokenRecord): ShownToken => record

/** `dataDir`: the data directory that the server must be using; null: any. */
async function openServer(base: string, dataDir: string | null, io: Io): Promise<TokenStore> {
  const known =
    operatorTokenIn(io.env) ??
    (await askSecret(`The operator’s token of ${base} (hidden while you type; press Enter if you have none): `, io))
  if (known === null) {
    const uses = dataDir === null ? '' : `A server is using ${dataDir}. `
    throw usageError(`${uses}To change the tokens of ${base}, set QUARTERDECK_OPERATOR_TOKEN.`, [
      'If you have none: stop the server, run this command again, then start the server.',
    ])
  }
  const otherAddress = dataDir === null ? [] : ['Give the address of the server with --url <address>.']

  async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
    let response: Response
    try {
      response = await fetch(`${base}${path}`, {
        method,
        headers: { authorization: `Bearer ${known}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.timeout(30_000),
      })
    } catch (error) {
      throw noServerAt(base, error, otherAddress)
    }
    const text = await response.text()
    const answer = jsonIn(text)
    if (response.ok) return answer
    const detail = typeof answer === 'object' && answer !== null && 'detail' in answer ? String(answer.detail) : ''
    throw failure(
      terminalText(detail) || `${base} answered ${response.status}.`,
      response.status === 401
        ? ['To replace a lost operator’s token, stop the server and run quarterdeck tokens create --role operator']
        : [],
    )
  }
  const listed = async () => understood(ListSchema, await ask('GET', '/tokens'), base)
  if (dataDir !== null) {
    const { data_dir: served } = await listed()
    if (served !== realpathSync(dataDir)) {
      throw failure(`The server at ${base} serves ${terminalText(served)}, not ${dataDir}.`, otherAddress)
    }
  }
  return {
    where: base,
    list: async () => (await listed()).tokens,
    create: async (wanted) => understood(MadeTokenSchema, await ask('POST', '/tokens', wanted), base),
    revoke: async (id) => void (await ask('DELETE', `/tokens/${encodeURIComponent(id)}`)),
  }
}

function understood<T>(schema: z.ZodType<T>, answer: unknown, base: string): T {
  const result = schema.safeParse(answer)
  if (result.success) return result.data
  throw failure(`${base} does not answer like a Quarterdeck of this version.`)
}

/** An address to which the operator's token can be sent without others reading it. */
export function safeAddress(text: string): string {
  const url = readServerUrl(text)
  if (isReadableByOthers(url)) {
    throw usageError(`http:// would send the operator’s token to ${url.host} in plain text, which others can read.`, [
      'Use its https address, run this on the server’s own machine, or use a tunnel (ssh -L).',
    ])
  }
  return baseOf(url)
}

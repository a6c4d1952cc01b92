import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import { createIds } from '../../../domain/ids.ts'
import { silentLogger } from '../../../domain/logger.ts'
import type { AuditRecord } from '../../../domain/supervision/audit.ts'
import { createOwnChanges } from '../../../replicas/replica.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { createWorkspaces } from '../../../supervision/workspace/allowed-workspace.ts'
import { collectLines, createManualClock, type LogLine } from '../../testing/server-fixture.ts'
import type { ConfigFileOptions } from '../config-folder/config-file.ts'
import { openConfigRecords } from '../config-folder/config-records.ts'
import { digestOf } from './token.ts'
import { readTokens, type TokensOptions } from './tokens.ts'

/** Null: nothing is stored. */
type Options = Partial<TokensOptions> & { kept?: Partial<ConfigFileOptions> | null }

function setUp() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'quarterdeck-tokens-')))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const dataDir = join(folder, 'data')
  const configDir = join(folder, 'config')
  mkdirSync(dataDir)
  const clock = createManualClock()
  const ids = createIds(clock.now)
  const lines: LogLine[] = []
  const trail: AuditRecord[] = []
  const makeFolder = (path: string, mode: number) => void mkdirSync(path, { recursive: true, mode })
  const read = async (more: Options = {}) => {
    const { kept = {}, ...options } = more
    const place = kept === null ? null : { configDir, dataDir, makeFolder, ...kept }
    const records = place === null ? null : openConfigRecords(place, silentLogger)
    const own = { shared: createLocalShared(clock, records?.kinds), changes: createOwnChanges() }
    const tokens = await readTokens({
      own,
      file: records?.tokens ?? null,
      set: { user: null, operator: null },
      clock,
      ids,
      log: collectLines(lines),
      workspaces: createWorkspaces(
        { defaultWorkspaceRoot: null, workspaces: [], slack: { channels: ['C1'] } },
        { dataDir, configDir, runtimeDir: join(folder, 'run'), home: join(folder, 'home') },
      ),
      checkOwner() {},
      ...options,
    })
    return { tokens, own }
  }
  const open = async (more: Options & { make?: boolean; audit?: () => Promise<void> } = {}) => {
    const { make = false, audit, ...options } = more
    const { tokens, own } = await read(options)
    const made = await tokens.begin(audit ?? (async (record) => void trail.push(record)), { make, place: own })
    return { tokens, made }
  }
  const valid = (tokens: { current(): readonly { sha256: string; user: string; role: string }[] }, token = '') => {
    const found = tokens.current().find(({ sha256 }) => sha256 === digestOf(token))
    return found === undefined ? null : `${found.role} ${found.user}`
  }
  const audited = () => trail.map(({ kind, by, details }) => `${kind} ${details.role} by ${by}`)
  return { folder, dataDir, configDir, lines, trail, clock, read, open, valid, audited }
}

describe('stored tokens', () => {
  test('are created once, as hashes that only the server user can read, outside the data directory', async () => {
    const { open, dataDir, configDir, valid, audited } = setUp()

    const { tokens, made } = await open({ make: true })

    const [name = ''] = readdirSync(configDir)
    const path = join(configDir, name)
    expect(tokens.path).toBe(path)
    expect([statSync(path).mode & 0o777, statSync(configDir).mode & 0o777]).toEqual([0o600, 0o700])
    const text = readFileSync(path, 'utf8')
    const record = {
      id: expect.any(String),
      name: 'first start',
      user: 'local_user',
      role: 'operator',
      sha256: digestOf(made ?? ''),
      created_at: '2027-01-15T08:00:00.000Z',
    }
    expect(JSON.parse(text)).toEqual({ data_dir: dataDir, tokens: [record] })
    expect(text).not.toContain(made)
    expect(readdirSync(dataDir)).toEqual([])
    expect(audited()).toEqual(['token_created operator by server'])

    const second = await open({ make: true })
    expect(second.made).toBe(null)
    expect(valid(second.tokens, made ?? '')).toBe('operator local_user')
  })

  test('are not created if the settings have the operator’s, nor if nobody would see it', async () => {
    const { open, valid } = setUp()

    expect((await open()).tokens.current()).toEqual([])
    const { tokens, made } = await open({ make: true, set: { user: null, operator: 'operator-that-is-set' } })
    expect([made, tokens.operatorToken, valid(tokens, 'operator-that-is-set')]).toEqual([
      null,
      'operator-that-is-set',
      'operator local_user',
    ])
  })

  test('creating and revoking counts at once and after a restart, and is in the audit trail', async () => {
    const { open, valid, trail } = setUp()
    const { tokens } = await open()
    const before = tokens.current()

    const { record, token } = await tokens.create({ name: 'Ada’s', user: 'ada', role: 'user' }, 'bob')

    expect([valid(tokens, token), tokens.current() === before, tokens.list()]).toEqual(['user ada', false, [record]])
    expect(valid((await open()).tokens, token)).toBe('user ada')
    await tokens.revoke(record.id, 'eve')
    expect([valid(tokens, token), tokens.list()]).toEqual([null, []])
    expect(valid((await open()).tokens, token)).toBe(null)
    await expect(tokens.revoke(record.id, 'eve')).rejects.toMatchObject({ code: 'token_not_found' })
    const about = { at: 1_800_000_000_000, session: null, run: null, agent: '', tool: '', call: null }
    const details = { token: record.id, name: 'Ada’s', user: 'ada', role: 'user' }
    expect(trail).toEqual([
      { ...about, kind: 'token_created', by: 'bob', details },
      { ...about, kind: 'token_revoked', by: 'eve', details },
    ])
  })

  test('no token works that is not in the audit trail', async () => {
    const { open, configDir } = setUp()
    const full = async () => {
      throw new Error('the disk is full')
    }
    const { tokens } = await open({ audit: full })

    await expect(tokens.create({ name: '', user: 'ada', role: 'operator' }, 'ada')).rejects.toThrow('the disk is full')

    expect([tokens.current(), tokens.list()]).toEqual([[], []])
    expect(readFileSync(join(configDir, readdirSync(configDir)[0] ?? ''), 'utf8')).not.toContain('sha256')
  })

  test('may be limited and may end, and stay so after a restart', async () => {
    const { open, trail } = setUp()
    const { tokens } = await open()
    const wanted = {
      name: '',
      user: 'corp:ada@example.com',
      role: 'user',
      scopes: ['read', 'read'],
      agent: 'crow',
    } as const

    const { record } = await tokens.create({ ...wanted, expires_in: 3600 }, 'bob')

    expect(record).toMatchObject({ scopes: ['read'], agent: 'crow', expires_at: '2027-01-15T09:00:00.000Z' })
    expect((await open()).tokens.current()).toEqual([record])
    expect(trail.map(({ details }) => details)).toMatchObject([
      {
        user: 'corp:ada@example.com',
        scopes: 'read',
        limited_to_agent: 'crow',
        expires_at: '2027-01-15T09:00:00.000Z',
      },
    ])
  })

  test('that have ended are listed for as long as they lived, and at most for a month', async () => {
    const { open, clock } = setUp()
    const { tokens } = await open()
    const day = 24 * 60 * 60
    const make = (name: string, expires_in: number) =>
      tokens.create({ name, user: 'ada', role: 'user', expires_in }, 'b')
    const names = async () => {
      await make('new', 60)
      return tokens.list().flatMap(({ name }) => (name === 'new' ? [] : [name]))
    }
    await make('a minute', 60)
    await make('a year', 365 * day)
    clock.advance(119_000)
    expect(await names()).toEqual(['a minute', 'a year'])
    clock.advance(2_000)
    expect(await names()).toEqual(['a year'])
    clock.advance(395 * day * 1_000 - 122_000)
    expect(await names()).toEqual(['a year'])
    clock.advance(2_000)
    expect(await names()).toEqual([])
  })

  test('that have ended make room for new ones when there are as many as there may be', async () => {
    const { open, clock, configDir } = setUp()
    const wanted = { user: 'ada', role: 'user', expires_in: 900 } as const
    const { record } = await (await open()).tokens.create({ ...wanted, name: 'token' }, 'bob')
    const path = join(configDir, readdirSync(configDir)[0] ?? '')
    const many = Array.from({ length: 1_000 }, (_, i) => ({
      ...record,
      id: `${record.id.slice(0, -4)}${i + 1_000}`,
      name: `token ${i}`,
      sha256: digestOf(`${i}`),
    }))
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), tokens: many }))
    const { tokens } = await open()
    const make = (name: string) => tokens.create({ ...wanted, name }, 'bob')

    await expect(make('one more')).rejects.toMatchObject({ code: 'conflict' })
    clock.advance(900_000)
    await make('one more')

    expect([tokens.list().length, tokens.list()[0]?.name, tokens.list().at(-1)?.name]).toEqual([
      1_000,
      'token 1',
      'one more',
    ])
  })

  test('an agent’s is bound to the real path of a folder, and stays so after a restart', async () => {
    const { open, folder, trail } = setUp()
    const { tokens } = await open()
    mkdirSync(join(folder, 'shop'))
    symlinkSync(join(folder, 'shop'), join(folder, 'link'))
    const wanted = { name: '', user: 'ada', role: 'agent', workspace: join(folder, 'link'), channel: 'C1' } as const

    const { record } = await tokens.create(wanted, 'bob')

    expect(record).toMatchObject({ user: 'ada', role: 'agent', workspace: join(folder, 'shop'), channel: 'C1' })
    expect((await open()).tokens.current()).toEqual([record])
    expect(trail.map(({ details }) => details.workspace)).toEqual([join(folder, 'shop')])
  })

  test.each([
    ['shop', 'it is not an absolute path'],
    ['/', 'it is the whole file system'],
    ['{folder}', 'it contains the home folder'],
    ['{folder}/data', 'it is the data folder'],
    ['{folder}/data/files', 'it lies within the data folder'],
    ['{folder}/home', 'it is the home folder'],
    ['{folder}/gone', 'there is no such folder'],
    ['{folder}/file', 'there is no such folder'],
  ])('no agent’s is made for %s', async (workspace, why) => {
    const { open, folder, dataDir } = setUp()
    mkdirSync(join(dataDir, 'files'))
    mkdirSync(join(folder, 'home'))
    writeFileSync(join(folder, 'file'), '')
    const { tokens } = await open()
    const wanted = { name: '', user: 'ada', role: 'agent', workspace: workspace.replace('{folder}', folder) } as const

    await expect(tokens.create(wanted, 'bob')).rejects.toMatchObject({
      code: 'invalid_request',
      problems: [{ pointer: '/workspace', detail: expect.stringContaining(why) }],
    })
    expect(tokens.current()).toEqual([])
  })

  test('no agent’s is made for a channel that is not configured', async () => {
    const { open, folder } = setUp()
    const { tokens } = await open()
    mkdirSync(join(folder, 'shop'))
    const wanted = { name: '', user: 'ada', role: 'agent', workspace: join(folder, 'shop'), channel: 'C2' } as const

    await expect(tokens.create(wanted, 'bob')).rejects.toMatchObject({ code: 'forbidden' })
    expect(tokens.current()).toEqual([])
  })

  test('several created at once are all stored', async () => {
    const { open } = setUp()
    const { tokens } = await open()
    const names = Array.from({ length: 20 }, (_, i) => `token ${i}`)

    const made = await Promise.all(names.map((name) => tokens.create({ name, user: 'ada', role: 'user' }, 'ada')))
    await Promise.all(made.slice(5).map(({ record }) => tokens.revoke(record.id, 'ada')))

    expect((await open()).tokens.list().map(({ name }) => name)).toEqual(names.slice(0, 5))
  })

  test('changes to the file while the server runs do not count and are overwritten', async () => {
    const { open, valid } = setUp()
    const { tokens } = await open()
    const path = tokens.path ?? ''
    const planted = { id: 'x', name: '', user: 'agent', role: 'operator', created_at: '2026-11-15T09:00:00.000Z' }
    const content = { data_dir: '/', tokens: [{ ...planted, sha256: digestOf('planted-by-the-agent') }] }
    writeFileSync(path, JSON.stringify(content))

    expect(valid(tokens, 'planted-by-the-agent')).toBe(null)
    await tokens.create({ name: '', user: 'ada', role: 'user' }, 'ada')
    expect(valid((await open()).tokens, 'planted-by-the-agent')).toBe(null)
  })

  test('belong to one data directory, by its real path', async () => {
    const { open, folder, dataDir, configDir, valid } = setUp()
    const { made } = await open({ make: true })
    const other = join(folder, 'other')
    mkdirSync(other)
    symlinkSync(dataDir, join(folder, 'link'))

    expect((await open({ kept: { dataDir: other } })).tokens.current()).toEqual([])
    expect(readdirSync(configDir).length).toBe(2)
    expect(valid((await open({ kept: { dataDir: join(folder, 'link') } })).tokens, made ?? '')).toBe(
      'operator local_user',
    )
    renameSync(dataDir, join(folder, 'moved'))
    expect((await open({ kept: { dataDir: join(folder, 'moved') } })).tokens.current()).toEqual([])
  })

  test('one token cannot belong to a user and an operator', async () => {
    const { read, open } = setUp()
    const same = 'the-same-for-both'

    await expect(read({ set: { user: same, operator: same } })).rejects.toThrow('Two tokens are the same')
    const { token } = await (await open()).tokens.create({ name: '', user: 'ada', role: 'user' }, 'ada')
    await expect(read({ set: { user: null, operator: token } })).rejects.toThrow('Two tokens are the same')
  })

  test.each(['', 'short', 'with space in between', 'ünïcödé-in-a-token'])('a setting cannot be %j', async (token) => {
    await expect(setUp().read({ set: { user: token, operator: null } })).rejects.toThrow(
      'must be 16 to 512 printable ASCII',
    )
  })
})

describe('tokens in memory only', () => {
  test('are an operator token and those that are created', async () => {
    const { open, valid, folder } = setUp()
    const { tokens, made } = await open({ kept: null, make: true })

    expect([made, tokens.path, valid(tokens, tokens.operatorToken ?? '')]).toEqual([null, null, 'operator local_user'])
    const { record, token } = await tokens.create({ name: '', user: 'ada', role: 'user' }, 'ada')
    expect(valid(tokens, token)).toBe('user ada')
    await tokens.revoke(record.id, 'ada')
    expect(valid(tokens, token)).toBe(null)
    expect(readdirSync(folder)).toEqual(['data'])
  })
})

describe.skipIf(process.platform === 'win32')('a config folder that cannot be trusted', () => {
  const refused = async (spoil: (paths: { configDir: string; path: string; folder: string }) => void) => {
    const { open, read, configDir, folder } = setUp()
    const { tokens } = await open({ make: true })
    const path = tokens.path ?? ''
    spoil({ configDir, path, folder })
    try {
      await read()
      return 'taken'
    } catch (error) {
      return String(error)
        .replaceAll(path, 'FILE')
        .replaceAll(configDir, 'FOLDER')
        .replace(/^.*?: /, '')
    }
  }

  test('is refused with the reason and what to do', async () => {
    const helps = 'You can choose another one with QUARTERDECK_CONFIG_DIR.'
    expect(await refused(({ path }) => chmodSync(path, 0o640))).toBe(
      'The token file FILE cannot be used: other users can read or write it; run: chmod 600 FILE.',
    )
    expect(await refused(({ configDir }) => chmodSync(configDir, 0o755))).toBe(
      `The config folder FOLDER cannot be used for tokens: other users can look into it; run: chmod 700 FOLDER. ${helps}`,
    )
    const linkFile = ({ path, folder }: { path: string; folder: string }) => {
      renameSync(path, join(folder, 'elsewhere'))
      symlinkSync(join(folder, 'elsewhere'), path)
    }
    expect(await refused(linkFile)).toBe('The token file FILE cannot be used: it is a symbolic link.')
    const linkFolder = ({ configDir, folder }: { configDir: string; folder: string }) => {
      renameSync(configDir, join(folder, 'elsewhere'))
      symlinkSync(join(folder, 'elsewhere'), configDir)
    }
    expect(await refused(linkFolder)).toBe(
      `The config folder FOLDER cannot be used for tokens: it is a symbolic link. ${helps}`,
    )
    expect(await refused(({ path }) => writeFileSync(path, '{"tokens": "no'))).toMatch(/^The token file FILE .*JSON/)
    expect(await refused(({ path }) => writeFileSync(path, '{"data_dir": "/", "tokens": [{}]}'))).toMatch(
      /^The token file FILE cannot be used: it is not a file of this version \(tokens\.0\.id\)\./,
    )
  })

  test('includes one inside the data directory', async () => {
    const { read, dataDir, folder } = setUp()
    const at = (configDir: string) => read({ kept: { configDir, makeFolder: () => {} } })
    symlinkSync(dataDir, join(folder, 'link'))

    for (const path of [dataDir, join(dataDir, 'a', 'b'), join(folder, 'link', 'config')]) {
      await expect(at(path)).rejects.toThrow(`it is inside the data directory ${dataDir}`)
    }
    expect((await at(join(folder, 'data2'))).tokens.current()).toEqual([])
  })

  test('does not stop a server that has nothing to store there', async () => {
    const { open, folder } = setUp()
    writeFileSync(join(folder, 'file'), '')
    const makeFolder = (path: string) => void mkdirSync(path)
    const kept = { configDir: join(folder, 'file', 'config'), makeFolder }

    const { tokens } = await open({
      kept,
      make: true,
      set: { user: 'user-that-is-set', operator: 'operator-set-here' },
    })

    expect(tokens.current().length).toBe(2)
    await expect(tokens.create({ name: '', user: 'ada', role: 'user' }, 'ada')).rejects.toThrow('it cannot be created')
  })
})

test('a token of an agent is for an operator; others need none for their own sessions', async () => {
  const { open, folder, trail } = setUp()
  const checkOwner = (user: string) => {
    if (user !== 'ann') throw new ServerError('forbidden', 'not an operator')
  }
  const { tokens } = await open({ checkOwner })
  const workspace = join(folder, 'shop')
  mkdirSync(workspace)

  await expect(tokens.create({ name: '', user: 'mallory', role: 'agent', workspace }, 'x')).rejects.toThrow('operator')
  expect([tokens.list(), trail]).toEqual([[], []])
  expect((await tokens.create({ name: '', user: 'ann', role: 'agent', workspace }, 'x')).record.user).toBe('ann')
  expect((await tokens.create({ name: '', user: 'mallory', role: 'user' }, 'x')).record.user).toBe('mallory')
})

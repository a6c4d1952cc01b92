import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import { createLocalShared } from '../../../store/local-shared.ts'
import { createManualClock } from '../../testing/server-fixture.ts'
import type { ConfigFileOptions } from './config-file.ts'
import { createSecret, createSecretFiles, fileKeySecret, pushKeySecret, SECRET } from './secrets.ts'

function folders() {
  const root = mkdtempSync(join(tmpdir(), 'quarterdeck-secret-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const dataDir = join(root, 'data')
  mkdirSync(dataDir)
  return {
    configDir: join(root, 'config'),
    dataDir,
    makeFolder: (path: string, mode: number) => void mkdirSync(path, { recursive: true, mode }),
  }
}

/** A process with its config folder. */
const open = (options: ConfigFileOptions) =>
  createLocalShared(createManualClock(), new Map([[SECRET, createSecretFiles(options, silentLogger)]]))

const newKey = () => ({ files: randomBytes(32).toString('base64url') })
const fileKey = (options: ConfigFileOptions) => createSecret(open(options), fileKeySecret, newKey)()

test('a secret survives a restart, in a file that only the server can read', async () => {
  const options = folders()
  const secret = await fileKey(options)

  expect(await fileKey(options)).toEqual(secret)
  const [name = ''] = readdirSync(options.configDir)
  const path = join(options.configDir, name)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ data_dir: realpathSync(options.dataDir), ...secret })
  const other = join(options.dataDir, 'other')
  mkdirSync(other)
  expect(await fileKey({ ...options, dataDir: other })).not.toEqual(secret)
})

test('a file that is damaged or readable by others is not used', async () => {
  const options = folders()
  const secret = await fileKey(options)
  const path = join(options.configDir, readdirSync(options.configDir)[0] ?? '')

  chmodSync(path, 0o644)
  const second = await fileKey(options)
  writeFileSync(path, '{')
  const third = await fileKey(options)

  expect(new Set([secret, second, third].map(({ files }) => files)).size).toBe(3)
})

test('a secret that cannot be stored is there until the process ends', async () => {
  const options = folders()
  writeFileSync(options.configDir, '')
  const secret = createSecret(open(options), fileKeySecret, newKey)

  expect(await secret()).toEqual(await secret())
})

test('the keys for push messages are made at their first use, and kept', async () => {
  const options = folders()
  let made = 0
  const make = () => {
    made += 1
    return { publicKey: 'p'.repeat(87), privateKey: `${made}`.padEnd(43, 'x') }
  }
  const keys = createSecret(open(options), pushKeySecret, make)
  expect(made).toBe(0)

  expect(await keys()).toEqual({ publicKey: 'p'.repeat(87), privateKey: '1'.padEnd(43, 'x') })
  expect(await createSecret(open(options), pushKeySecret, make)()).toEqual(await keys())
  expect(made).toBe(1)
})

test('a secret is made once, however many replicas start at the same time', async () => {
  const shared = createLocalShared(createManualClock())
  const secrets = await Promise.all([1, 2, 3].map(() => createSecret(shared, fileKeySecret, newKey)()))
  expect(new Set(secrets.map(({ files }) => files)).size).toBe(1)

  await shared.put({ kind: SECRET, key: 'keys', value: 'x', version: null, expiresAt: null })
  const unreadable = createSecret(shared, fileKeySecret, newKey)
  await expect(unreadable()).rejects.toMatchObject({ code: 'config_invalid' })
  await shared.take(SECRET, 'keys')
  expect(await unreadable()).toEqual({ files: expect.any(String) })
})

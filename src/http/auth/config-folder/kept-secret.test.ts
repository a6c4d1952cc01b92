import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { silentLogger } from '../../../domain/logger.ts'
import { createFileKeySecret } from './file-key-secret.ts'
import { createPushKeySecret } from './push-key-secret.ts'

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

test('the secret survives a restart, in a file that only the server can read', () => {
  const options = folders()
  const secret = createFileKeySecret(options, silentLogger)()

  expect(secret).toHaveLength(32)
  expect(Buffer.from(createFileKeySecret(options, silentLogger)())).toEqual(secret)
  const [name = ''] = readdirSync(options.configDir)
  expect(statSync(join(options.configDir, name)).mode & 0o777).toBe(0o600)
  const other = join(options.dataDir, 'other')
  mkdirSync(other)
  expect(createFileKeySecret({ ...options, dataDir: other }, silentLogger)()).not.toEqual(secret)
})

test('a file that is damaged or readable by others is not used', () => {
  const options = folders()
  const secret = createFileKeySecret(options, silentLogger)()
  const path = join(options.configDir, readdirSync(options.configDir)[0] ?? '')

  chmodSync(path, 0o644)
  const second = createFileKeySecret(options, silentLogger)()
  writeFileSync(path, '{')
  const third = createFileKeySecret(options, silentLogger)()

  expect(new Set([secret, second, third].map((one) => Buffer.from(one).toString('hex'))).size).toBe(3)
})

test('without a folder the secret is only in memory', () => {
  const secret = createFileKeySecret(null, silentLogger)

  expect(secret()).toBe(secret())
})

test('the keys for push messages are made at their first use, and kept', () => {
  const options = folders()
  let made = 0
  const make = () => {
    made += 1
    return { publicKey: 'p'.repeat(87), privateKey: `${made}`.padEnd(43, 'x') }
  }
  const keys = createPushKeySecret(options, make, silentLogger)
  expect(made).toBe(0)

  expect(keys()).toEqual({ publicKey: 'p'.repeat(87), privateKey: '1'.padEnd(43, 'x') })
  expect(createPushKeySecret(options, make, silentLogger)()).toEqual(keys())
  expect(made).toBe(1)
})

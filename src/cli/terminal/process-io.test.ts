import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { CONFIG_DIR_VARIABLE } from '../../config/config-dir.ts'
import { secretKeys } from '../../config/settings/resolve-settings.ts'
import { settings } from '../../config/settings/settings.ts'
import { credentialNames, credentialVariable } from '../../operators/credentials/credentials.ts'
import { instantClock } from '../testing/test-io.ts'
import { onceWithin, openerFor, ownVariables } from './process-io.ts'

test('our own variables are those of secret settings and of channels, and no name that others use', () => {
  const ofSettings = secretKeys.flatMap((key) => settings[key].env).filter((name) => name.startsWith('QUARTERDECK_'))
  const all = [CONFIG_DIR_VARIABLE, ...ofSettings, ...credentialNames.map(credentialVariable)]
  expect(ownVariables.toSorted()).toEqual(all.toSorted())
})

test('a signal that comes while one listener follows another is told to the next one', async () => {
  const module = JSON.stringify(new URL('./process-io.ts', import.meta.url).href)
  const program = `
    const { createProcessIo } = await import(${module})
    const io = createProcessIo(process)
    const stopListening = io.onSignal(() => console.log('the first'))
    setTimeout(() => process.exit(), 2_000)
    process.kill(process.pid, 'SIGTERM')
    stopListening()
    io.onSignal((signal) => {
      console.log('the next', signal)
      process.exit()
    })`

  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])

  expect(stdout).toBe('the next SIGTERM\n')
})

test('programs that tools start inherit neither the tokens nor their location', async () => {
  const module = JSON.stringify(new URL('./process-io.ts', import.meta.url).href)
  const program = `
    import { spawnSync } from 'node:child_process'
    const { createProcessIo } = await import(${module})
    const { env } = createProcessIo(process)
    const names = ['QUARTERDECK_TOKEN', 'QUARTERDECK_OPERATOR_TOKEN', 'QUARTERDECK_CONFIG_DIR', 'OTHER']
    const child = spawnSync(process.execPath, ['-p', 'JSON.stringify(process.env)'])
    const theirs = JSON.parse(String(child.stdout))
    console.log(JSON.stringify([names.map((name) => env[name]), names.map((name) => theirs[name] ?? null)]))
    process.exit(0)`
  const env = {
    PATH: process.env.PATH,
    QUARTERDECK_TOKEN: 'a',
    QUARTERDECK_OPERATOR_TOKEN: 'b',
    QUARTERDECK_CONFIG_DIR: '/c',
    OTHER: 'd',
  }

  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env })

  expect(JSON.parse(stdout)).toEqual([
    ['a', 'b', '/c', 'd'],
    [null, null, null, 'd'],
  ])
})

test('a warning of Node is one line without flags of node, and needless warnings are dropped', async () => {
  const module = JSON.stringify(new URL('./process-io.ts', import.meta.url).href)
  const program = `
    const { createProcessIo } = await import(${module})
    const io = createProcessIo(process)
    const soon = () => new Promise((resolve) => setImmediate(resolve))
    process.emitWarning('this is\\nold', 'DeprecationWarning')
    process.emitWarning('this is young', 'ExperimentalWarning')
    process.emitWarning('read twice', { code: 'MODULE_TYPELESS_PACKAGE_JSON' })
    await soon()
    const stop = io.onWarning((text) => console.log(text))
    process.emitWarning('heard')
    await soon()
    process.exit(0)`

  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    env: { PATH: process.env.PATH },
  })

  expect([stdout, stderr]).toEqual(['Warning: heard\n', 'warning: DeprecationWarning: this is old\n'])
})

test('output that cannot be written is reported, with the exit code for a full disk', async () => {
  const module = JSON.stringify(new URL('./process-io.ts', import.meta.url).href)
  const program = `
    const { createProcessIo } = await import(${module})
    createProcessIo(process)
    const message = 'ENOSPC: no space left on device, write'
    process.stdout.emit('error', Object.assign(new Error(message), { code: 'ENOSPC', syscall: 'write' }))`

  await expect(
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { env: { PATH: process.env.PATH } }),
  ).rejects.toMatchObject({ code: 74, stderr: 'quarterdeck: ENOSPC: no space left on device, write\n' })
})

test('a signal that follows at once is the same one, a later one is another', () => {
  let now = 1000
  let heard = 0
  const call = onceWithin(500, { ...instantClock(), mono: () => now }, () => {
    heard += 1
  })
  const after = (ms: number) => {
    now += ms
    call()
    return heard
  }

  expect([after(0), after(3), after(499), after(500), after(1)]).toEqual([1, 1, 1, 2, 2])
})

describe('openerFor', () => {
  test('knows the opener of each system, with the URL as one argument', () => {
    const url = 'http://127.0.0.1:8000/#token=a&b;c'
    expect(openerFor(url, 'linux')).toEqual({ program: 'xdg-open', args: [url] })
    expect(openerFor(url, 'darwin')).toEqual({ program: 'open', args: [url] })
    expect(openerFor(url, 'win32')).toEqual({ program: 'rundll32', args: ['url.dll,FileProtocolHandler', url] })
  })

  test('opens nothing but web pages', () => {
    for (const url of ['file:///etc/passwd', 'javascript:alert(1)', '-h', '--version', 'ssh://host', '']) {
      expect(openerFor(url, 'linux')).toBeNull()
    }
  })
})

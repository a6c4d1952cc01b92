// The units in `deploy/systemd` match the program: settings, exit codes, times. systemd checks them too where it is there.

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { settings } from '../../src/config/settings/settings.ts'
import { findProgram } from './find-program.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'deploy/systemd')
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
const linesOf = (name: string): string[] =>
  read(name)
    .split('\n')
    .filter((line) => !/^(?:#.*)?$/.test(line))
const valuesOf = (name: string, key: string): string[] =>
  linesOf(name)
    .filter((line) => line.startsWith(`${key}=`))
    .map((line) => line.slice(key.length + 1))

const services = ['quarterdeck.service', 'quarterdeck@.service']
/** Higher is worse. A service without any hardening has 9.6. */
const MOST_EXPOSURE = 2

describe.each(services)('%s', (name) => {
  test('sets only variables that exist', () => {
    const known = [
      'HOME',
      'NODE_OPTIONS',
      'QUARTERDECK_CONFIG_DIR',
      ...Object.values(settings).flatMap(({ env }) => env),
    ]
    const given = valuesOf(name, 'Environment').map((pair) => pair.split('=')[0] ?? '')
    expect(given.filter((variable) => !known.includes(variable))).toEqual([])
  })

  test('gives the server more time to stop than its drain', () => {
    const drain = valuesOf(name, 'Environment').find((pair) => pair.startsWith('QUARTERDECK_SHUTDOWN_DRAIN='))
    const seconds = Number(/=(\d+)s$/.exec(drain ?? '')?.[1])
    expect(Number(valuesOf(name, 'TimeoutStopSec'))).toBeGreaterThanOrEqual(seconds + 10)
  })

  test('starts it again unless that cannot help', () => {
    expect(valuesOf(name, 'Restart')).toEqual(['always'])
    const codes = valuesOf(name, 'RestartPreventExitStatus').join(' ').split(' ')
    const documented = readFileSync(join(root, 'docs/look-up/cli.md'), 'utf8')
    expect(codes.filter((code) => !documented.includes(`\n| ${code} |`))).toEqual([])
  })

  test('lets it write only where it keeps its own things', () => {
    const mine = [...valuesOf(name, 'StateDirectory'), ...valuesOf(name, 'CacheDirectory')].join(' ').split(' ')
    const used = valuesOf(name, 'Environment').flatMap((pair) => /=\/var\/(?:lib|cache)\/(\S+)$/.exec(pair)?.[1] ?? [])
    expect(new Set(used)).toEqual(new Set(mine))
    expect(valuesOf(name, 'ProtectSystem')).toEqual(['strict'])
  })
})

test('one server and one of several differ only in port, folders and names', () => {
  const [one = [], several = []] = services.map(linesOf)
  const keyOf = (line: string) => line.replace(/^(Environment=\w+|\w+)=.*$/, '$1')
  const without = (lines: string[], others: string[]) => lines.filter((line) => !others.includes(line))
  const different = [...without(one, several), ...without(several, one)].map(keyOf)
  expect(new Set(different)).toEqual(
    new Set([
      'Description',
      'PartOf',
      'Environment=QUARTERDECK_PORT',
      'Environment=QUARTERDECK_DATA_DIR',
      'Environment=QUARTERDECK_CONFIG_DIR',
      'StateDirectory',
      'WantedBy',
    ]),
  )
})

const analyze = findProgram('systemd-analyze', 'apt-get install systemd')

test.skipIf(analyze === null)('systemd finds no mistake in the units, and little exposure', async () => {
  const place = mkdtempSync(join(tmpdir(), 'quarterdeck-units-'))
  onTestFinished(() => rmSync(place, { recursive: true, force: true }))
  const names = ['quarterdeck.service', 'quarterdeck@8001.service', 'quarterdeck.target']
  for (const name of names) {
    // The program and its user are not on this machine.
    const text = read(name.replace('8001', ''))
      .replace(/^ExecStart=\S+/m, 'ExecStart=/bin/true')
      .replace(/^(User|Group)=.*$/gm, '$1=daemon')
    writeFileSync(join(place, name), text)
  }
  const paths = names.map((name) => join(place, name))
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await promisify(execFile)(analyze ?? '', args, { cwd: place })
    return stdout + stderr
  }
  expect(await run('verify', '--man=no', ...paths)).toBe('')
  for (const path of paths.slice(0, 2)) {
    const level = /exposure level for \S+ (\d+\.\d+)/.exec(await run('security', '--offline=true', '--no-pager', path))
    expect(Number(level?.[1])).toBeLessThan(MOST_EXPOSURE)
  }
})

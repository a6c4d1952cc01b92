// The container image matches package.json: Node, program, files for the build, port and folders.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { settings } from '../src/config/settings/settings.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const manifest: {
  bin: { quarterdeck: string }
  engines: { node: string }
  files: string[]
  optionalDependencies: Record<string, string>
  scripts: { build: string }
} = JSON.parse(read('package.json'))
const dockerfile = read('Dockerfile').replaceAll('\\\n', ' ')
const { services } = parse(read('compose.yaml'))
const { quarterdeck } = services
const instructions = (name: string): string[] =>
  [...dockerfile.matchAll(new RegExp(`^${name} +(.+)$`, 'gm'))].map(([, rest = '']) => rest)
const environment = Object.fromEntries(
  instructions('ENV').flatMap((line) => line.split(/ +/).map((pair) => pair.split('='))),
)

test('every stage has the Node version of package.json', () => {
  const [, major] = /^>=(\d+)$/.exec(manifest.engines.node) ?? []
  expect(instructions('FROM').map((line) => line.split(' ')[0])).toEqual(Array(2).fill(`node:${major}-trixie-slim`))
  // The image leaves optional packages out: it has a Node of its own, and no keychain.
  const optional = Object.keys(manifest.optionalDependencies).filter((name) => !name.startsWith('node-'))
  expect(optional).toEqual(['@napi-rs/keyring'])
})

test('the builder gets the files of the package, and no secrets', () => {
  const lines = read('.dockerignore').split('\n').filter(Boolean)
  const sent = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  expect(sent.filter((path) => !existsSync(join(root, path)))).toEqual([])

  const published = manifest.files.filter((path) => !path.startsWith('!')).map((path) => path.split('/')[0] ?? '')
  const named = manifest.scripts.build.split(/[\s;/$]+/).filter((word) => existsSync(join(root, word)))
  const needed = new Set([...published, ...named, 'package.json', 'package-lock.json', '.npmrc', 'tsconfig.json'])
  for (const made of ['dist', '.', '']) needed.delete(made)
  expect([...needed].filter((path) => !sent.includes(path))).toEqual([])

  expect(lines).toEqual(expect.arrayContaining(['*', '**/.env', '**/.quarterdeck', '**/node_modules']))
})

test('the program is the one of package.json, and does not run as root', () => {
  expect(instructions('RUN').join(' ')).toContain(`ln -s /app/${manifest.bin.quarterdeck} /usr/local/bin/quarterdeck`)
  expect(instructions('ENTRYPOINT')).toEqual(['["quarterdeck"]'])
  expect(instructions('USER')).toEqual(['node'])
  expect(quarterdeck).toMatchObject({ read_only: true, cap_drop: ['ALL'], build: '.' })
})

test('port, folders and settings are the same in all three places', () => {
  const port = String(settings.port.default)
  expect(instructions('EXPOSE')).toEqual([port])
  expect(instructions('HEALTHCHECK').join()).toContain(`|| ${port}}/ready`)
  expect(quarterdeck.ports).toEqual([`127.0.0.1:${port}:${port}`])

  const [volume = ''] = instructions('VOLUME')
  expect(environment.QUARTERDECK_DATA_DIR).toBe(`${volume}/data`)
  expect(environment.QUARTERDECK_CONFIG_DIR).toBe(`${volume}/config`)
  expect(quarterdeck.volumes).toEqual([`./examples/assistant:${instructions('WORKDIR').at(-1)}:ro`, `state:${volume}`])

  const known = ['HOME', 'NODE_ENV', 'QUARTERDECK_CONFIG_DIR', ...Object.values(settings).flatMap(({ env }) => env)]
  const given = [...Object.keys(environment), ...Object.keys(quarterdeck.environment)]
  expect(given.filter((name) => !known.includes(name))).toEqual([])
})

// The image and the compose files match package.json and the settings: Node, program, files for the build, ports, folders, variables.
// test/examples/three-replicas.slow.test.ts starts what the second file describes.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { settings } from '../src/config/settings/settings.ts'
import { parseDockerfile } from './deploy/parse-dockerfile.ts'

const root = join(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

const manifest: {
  bin: { quarterdeck: string }
  engines: { node: string }
  files: string[]
  version: string
  optionalDependencies: Record<string, string>
  scripts: { build: string }
} = JSON.parse(read('package.json'))
const { stages, instructions } = parseDockerfile(read('Dockerfile'))
const environment: Record<string, string> = Object.fromEntries(
  instructions('ENV').flatMap((line) => line.split(/ +/).map((pair) => pair.split('='))),
)
const port = String(settings.port.default)
const [volume = ''] = instructions('VOLUME')

interface Service {
  build?: string | { dockerfile_inline: string }
  image: string
  environment: Record<string, string>
  volumes?: string[]
  ports?: string[]
  read_only?: boolean
  tmpfs?: string[]
  networks?: string[]
  healthcheck?: { test: string[] }
  depends_on?: Record<string, { condition: string }>
  restart: string
  stop_grace_period: string
  cap_drop?: string[]
  security_opt: string[]
}

interface Compose {
  services: Record<string, Service>
  volumes: Record<string, unknown>
  networks?: Record<string, { internal?: boolean } | null>
}

const one: Compose = parse(read('compose.yaml'))
const TEAM = 'examples/three-replicas/compose.yaml'
const team: Compose = parse(read(TEAM), { merge: true })
const composeFiles = [
  ['compose.yaml', one],
  [TEAM, team],
] as const
const ours = ({ services }: Compose): Service[] => Object.values(services).filter(({ build }) => build !== undefined)

/** Variables that the server knows, and those of the image itself. */
const known = ['HOME', 'NODE_ENV', 'QUARTERDECK_CONFIG_DIR', ...Object.values(settings).flatMap(({ env }) => env)]
const secondsOf = (time: string): number => Number(/^(\d+)s$/.exec(time)?.[1])

describe('the image', () => {
  test('has the Node version of package.json in every stage', () => {
    const [, major] = /^>=(\d+)$/.exec(manifest.engines.node) ?? []
    expect(stages.map(({ image }) => image)).toEqual(Array(2).fill(`node:${major}-trixie-slim`))
    // The image leaves optional packages out: it has a Node of its own, and no keychain.
    const optional = Object.keys(manifest.optionalDependencies).filter((name) => !name.startsWith('node-'))
    expect(optional).toEqual(['@napi-rs/keyring'])
  })

  test('is built from the files of the package, and no secrets', () => {
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

  test('runs the program of package.json, by a user that is a number and not root', () => {
    expect(instructions('RUN').join(' ')).toContain(`ln -s /app/${manifest.bin.quarterdeck} /usr/local/bin/quarterdeck`)
    expect(instructions('ENTRYPOINT')).toEqual(['["quarterdeck"]'])
    expect(instructions('USER')).toEqual(['1000:1000'])
  })

  test('ends with a small stage: what builds it stays behind, and what it downloads is pinned', () => {
    const [build, last] = stages
    expect(build?.name).toBe('build')
    expect(last?.lines.filter(({ instruction }) => instruction === 'COPY')).toEqual([
      { instruction: 'COPY', rest: '--from=build /app /app' },
    ])
    const commands = instructions('RUN').join('\n')
    expect(commands).toContain('npm ci --ignore-scripts')
    // Nothing that would give another image tomorrow, or that runs code nobody has read.
    expect(commands).not.toMatch(/apt-get|npm (?:i|install)\b|curl|wget|npx|sudo/)
    expect([...instructions('ADD'), ...instructions('ARG')]).toEqual([])
    expect(stages.filter(({ image }) => !image.includes(':') || image.endsWith(':latest'))).toEqual([])
  })

  test('has the port and the folders of the settings', () => {
    expect(instructions('EXPOSE')).toEqual([port])
    expect(instructions('HEALTHCHECK').join()).toContain(`|| ${port}}/ready`)
    expect(environment.QUARTERDECK_DATA_DIR).toBe(`${volume}/data`)
    expect(environment.QUARTERDECK_CONFIG_DIR).toBe(`${volume}/config`)
    expect(Object.keys(environment).filter((name) => !known.includes(name))).toEqual([])
  })
})

describe.each(composeFiles)('%s', (file, compose) => {
  const { services } = compose

  test('runs our servers without rights, on a read-only root', () => {
    for (const server of ours(compose)) {
      expect(server).toMatchObject({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] })
      expect(server.volumes?.[0]).toMatch(/^\.\/.+:\/agent(?:\/agent\.yaml)?:ro$/)
    }
    expect(Object.values(services).every(({ security_opt: [only] }) => only === 'no-new-privileges:true')).toBe(true)
  })

  test('names only variables that exist, and no secrets', () => {
    const given = ours(compose).flatMap(({ environment: variables }) => Object.keys(variables))
    expect(given.filter((name) => !known.includes(name))).toEqual([])
    const values = Object.values(services).flatMap(({ environment: variables }) => Object.entries(variables))
    const secret = /PASSWORD|TOKEN|KEY|SECRET|STORE/
    expect(values.filter(([name, value]) => secret.test(name) && !value.includes('${'))).toEqual([])
  })

  test('names only files, volumes, networks and services that exist', () => {
    const mounts = Object.values(services).flatMap((service) => service.volumes ?? [])
    const sources = mounts.map((mount) => mount.split(':')[0] ?? '')
    const missing = sources.filter((source) =>
      source.startsWith('.') ? !existsSync(join(root, dirname(file), source)) : !(source in compose.volumes),
    )
    expect(missing).toEqual([])
    const networks = Object.values(services).flatMap((service) => service.networks ?? [])
    expect(networks.filter((name) => !(name in (compose.networks ?? {})))).toEqual([])
    const needed = Object.values(services).flatMap((service) => Object.entries(service.depends_on ?? {}))
    expect(needed.filter(([name]) => !(name in services))).toEqual([])
    expect(needed.filter(([, { condition }]) => condition !== 'service_healthy')).toEqual([])
    const foreign = Object.values(services).filter(({ build }) => build === undefined)
    expect(foreign.filter(({ image }) => !/^[a-z]+:\d+$/.test(image)).map(({ image }) => image)).toEqual([])
  })

  test('starts again what has ended, checks its health, and lets it end in peace', () => {
    for (const service of Object.values(services)) {
      expect(service.restart).toBe('unless-stopped')
      // The image of our Dockerfile brings its health check.
      if (service.build !== '.') expect(service.healthcheck?.test[0]).toBe('CMD')
    }
    for (const { environment: variables, stop_grace_period: grace } of ours(compose)) {
      const drain = secondsOf(variables.QUARTERDECK_SHUTDOWN_DRAIN ?? `${settings['shutdown.drain'].default}s`)
      expect(secondsOf(grace)).toBeGreaterThanOrEqual(drain + 10)
    }
  })
})

describe('compose.yaml', () => {
  test('is one server that only this machine reaches', () => {
    expect(Object.keys(one.services)).toEqual(['quarterdeck'])
    const { quarterdeck } = one.services
    expect(quarterdeck).toMatchObject({ build: '.', image: 'quarterdeck', ports: [`127.0.0.1:${port}:${port}`] })
    expect(quarterdeck?.volumes).toEqual([
      `./examples/assistant:${instructions('WORKDIR').at(-1)}:ro`,
      `state:${volume}`,
    ])
  })
})

describe(TEAM, () => {
  const names = ['quarterdeck-1', 'quarterdeck-2', 'quarterdeck-3']

  test('is three servers, Postgres that only they reach, and a proxy that passes everything on to them', () => {
    const { services, networks } = team
    expect(Object.keys(services)).toEqual([...names, 'postgres', 'proxy'])
    expect(new Set(names.map((name) => JSON.stringify(services[name]))).size).toBe(1)
    expect([services.postgres?.networks, networks?.back]).toEqual([['back'], { internal: true }])
    expect(Object.values(services).flatMap((service) => service.ports ?? [])).toEqual(['80:80', '443:443'])
    expect(services.proxy?.environment.SERVERS).toBe(names.map((name) => `${name}:${port}`).join(' '))
    // Caddy asks for the health under the name of the service.
    const hosts = services['quarterdeck-1']?.environment.QUARTERDECK_ALLOWED_HOSTS?.split(',') ?? []
    expect(hosts).toEqual([expect.stringContaining('SITE:-localhost'), ...names])
  })

  test('installs the version of package.json on its Node', () => {
    const { build } = services('quarterdeck-1')
    const image = stages[0]?.image
    expect(typeof build === 'object' && build.dockerfile_inline.split('\n').slice(0, 2)).toEqual([
      `FROM ${image}`,
      `RUN npm install --global --ignore-scripts quarterdeck@${manifest.version}`,
    ])
  })

  test('gives the servers the database that it makes', () => {
    const { POSTGRES_USER, POSTGRES_DB, POSTGRES_PASSWORD } = services('postgres').environment
    const url = `postgres://${POSTGRES_USER}:${POSTGRES_PASSWORD}@postgres:5432/${POSTGRES_DB}`
    expect(services('quarterdeck-1').environment.QUARTERDECK_STORE).toBe(url)
  })

  test('has the Caddyfile of deploy, without its remarks and defaults', () => {
    const bare = (file: string) =>
      read(file)
        .replace(/^\s*(?:#.*)?\n/gm, '')
        .replace(/\{\$(\w+):[^}]+\}/g, '{$$$1}')
        .trim()
    expect(bare('examples/three-replicas/Caddyfile')).toBe(bare('deploy/caddy/Caddyfile'))
    const variables = [...bare('deploy/caddy/Caddyfile').matchAll(/\{\$(\w+)\}/g)].map(([, name]) => name)
    expect(variables).toEqual(Object.keys(services('proxy').environment))
  })

  const services = (name: string): Service => team.services[name] ?? expect.fail(`there is no ${name}`)
})

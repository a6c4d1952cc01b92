// nginx and Caddy with the files of `deploy`, changed only where a machine differs: addresses, certificate, servers. They listen on a
// socket in a folder, so that no port can be taken.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../crash/support/until.ts'

const root = join(import.meta.dirname, '../..')
export const CERTIFICATE = join(root, 'src/http/testing/localhost-cert.pem')
const KEY = join(root, 'src/http/testing/localhost-key.pem')

export interface RunningProxy {
  /** Where it listens, with TLS, for `localhost`. */
  socketPath: string
  log(): string
}

export interface ProxyOptions {
  program: string
  /** Ports of the servers behind it. */
  servers: readonly [number, number]
  onEnd(clean: () => Promise<void>): void
}

/** Replaces what must be there. */
function change(text: string, changes: readonly (readonly [RegExp, string])[]): string {
  return changes.reduce((result, [pattern, replacement]) => {
    if (!pattern.test(result)) throw new Error(`the file has no ${pattern}`)
    return result.replace(pattern, replacement)
  }, text)
}

export function startNginx({ program, servers, onEnd }: ProxyOptions): Promise<RunningProxy> {
  return start(onEnd, async (folder, socketPath) => {
    const site = change(await readFile(join(root, 'deploy/nginx/quarterdeck.conf'), 'utf8'), [
      [/^ {2}listen 80;\n {2}listen \[::\]:80;$/m, `  listen unix:${folder}/plain.sock;`],
      [/^ {2}listen 443 ssl http2;\n {2}listen \[::\]:443 ssl http2;$/m, `  listen unix:${socketPath} ssl http2;`],
      [/\/etc\/letsencrypt\S+fullchain\.pem/, CERTIFICATE],
      [/\/etc\/letsencrypt\S+privkey\.pem/, KEY],
      [/127\.0\.0\.1:8001/, `127.0.0.1:${servers[0]}`],
      [/127\.0\.0\.1:8002/, `127.0.0.1:${servers[1]}`],
      [/agent\.example\.com/g, 'localhost'],
    ])
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const whole = [
      ...['daemon off;', 'master_process off;', `pid ${folder}/nginx.pid;`, 'error_log stderr;', 'events {}', 'http {'],
      ...['access_log off;', ...temporary.map((name) => `${name}_temp_path ${folder}/${name};`), site, '}'],
    ]
    await writeFile(join(folder, 'nginx.conf'), whole.join('\n'))
    return { args: [program, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], env: {} }
  })
}

export function startCaddy({ program, servers, onEnd }: ProxyOptions): Promise<RunningProxy> {
  return start(onEnd, async (folder, socketPath) => {
    const site = change(await readFile(join(root, 'deploy/caddy/Caddyfile'), 'utf8'), [
      [/^\{\$SITE:[^}]+\} \{$/m, `$&\n\tbind unix/${socketPath}\n\ttls ${CERTIFICATE} ${KEY}`],
    ])
    const options = '{\n\tadmin off\n\tauto_https disable_redirects\n}\n'
    await writeFile(join(folder, 'Caddyfile'), options + site)
    const env = {
      SITE: 'localhost',
      SERVERS: servers.map((port) => `127.0.0.1:${port}`).join(' '),
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    }
    return { args: [program, 'run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], env }
  })
}

async function start(
  onEnd: ProxyOptions['onEnd'],
  prepare: (folder: string, socketPath: string) => Promise<{ args: string[]; env: Record<string, string> }>,
): Promise<RunningProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'quarterdeck-proxy-'))
  // nginx changes to a user of its own, who must reach its folders.
  await chmod(folder, 0o755)
  let child: ChildProcess | undefined
  onEnd(async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const gone = new Promise((resolve) => child?.once('close', resolve))
      child.kill('SIGKILL')
      await gone
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  const socketPath = join(folder, 'proxy.sock')
  const { args, env } = await prepare(folder, socketPath)
  // It dies with the test run, whatever kills that.
  child = spawn('setpriv', ['--pdeathsig', 'KILL', ...args], {
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  const keep = (text: Buffer) => {
    log += text
  }
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  await until(
    'the proxy listens',
    () => {
      if (child?.exitCode !== null) throw new Error(`the proxy ended:\n${log}`)
      return existsSync(socketPath)
    },
    60_000,
  )
  return { socketPath, log: () => log }
}

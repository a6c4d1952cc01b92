// `npm run test:image`: builds the image from the Dockerfile as it is, measures it, and starts it as a container would: as its own user,
// without capabilities, on a read-only root. It needs root, and Debian's buildah and debootstrap, but no registry and no container
// engine: the base image is made of Debian's packages and of the Node that npm has installed here. Where these cannot be had, it says so
// and ends.
//
//   npm run test:image -- --base <folder>     keeps Debian's files there for the next time

import { execFileSync, spawn } from 'node:child_process'
import { chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseDockerfile } from './parse-dockerfile.ts'

const root = join(import.meta.dirname, '../..')
const LIMIT_BYTES = 400_000_000
const LIMIT_SECONDS = 180
const NPM = 'npm@11'
const OCR_DATA = 'app/dist/packages/@tesseract.js-data'

const { base } = parseArgs({ options: { base: { type: 'string' } } }).values
const { stages, instructions } = parseDockerfile(readFileSync(join(root, 'Dockerfile'), 'utf8'))

const say = (line: string) => void process.stdout.write(`${line}\n`)

function run(program: string, args: readonly string[], cwd = root): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1e8 })
}

/** Why the image cannot be built here, and what to do; null if it can. */
function whyNot(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'this needs Linux, and root'
  const missing = ['buildah', 'debootstrap', 'unshare', 'setpriv'].filter((name) => {
    try {
      run('sh', ['-c', `command -v ${name}`])
      return false
    } catch {
      return true
    }
  })
  if (missing.length === 0) return null
  return `there is no ${missing.join(', no ')}. On Debian: apt-get install buildah debootstrap util-linux`
}

/** Makes what the stages name as their base: Debian's smallest system, Node, npm, and the user `node`. */
function makeBase(folder: string, name: string): string {
  const suite = /-(\w+)-slim$/.exec(name)?.[1] ?? ''
  const debian = base ?? join(folder, 'debian')
  if (!existsSync(join(debian, 'etc/debian_version'))) run('debootstrap', ['--variant=minbase', suite, debian])
  const slim = join(folder, 'base')
  run('cp', ['-a', debian, slim])
  const unneeded = ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/man', 'usr/share/info', 'usr/share/locale']
  for (const path of unneeded) rmSync(join(slim, path), { recursive: true, force: true })
  run('find', [`${slim}/usr/share/doc`, '-type', 'f', '!', '-name', 'copyright', '-delete'])

  // The one that runs this script is the one that package.json pins.
  cpSync(process.execPath, join(slim, 'usr/local/bin/node'))
  const npm = join(slim, 'usr/local/lib/node_modules/npm')
  mkdirSync(npm, { recursive: true })
  const archive = run('npm', ['pack', '--silent', NPM], folder).trim()
  run('tar', ['-xzf', join(folder, archive), '-C', npm, '--strip-components=1'])
  for (const bin of ['npm', 'npx'])
    run('ln', ['-s', `../lib/node_modules/npm/bin/${bin}-cli.js`, `${slim}/usr/local/bin/${bin}`])
  run('chroot', [slim, 'groupadd', '--gid', '1000', 'node'])
  run('chroot', [slim, 'useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node'])

  // A machine whose way to npm's registry has a certificate of its own.
  const authorities = process.env.NODE_EXTRA_CA_CERTS
  if (authorities !== undefined) {
    mkdirSync(join(slim, 'etc/ssl'), { recursive: true })
    cpSync(authorities, join(slim, 'etc/ssl/build-ca.crt'), { dereference: true })
    mkdirSync(join(slim, 'usr/local/etc'), { recursive: true })
    writeFileSync(join(slim, 'usr/local/etc/npmrc'), 'cafile=/etc/ssl/build-ca.crt\n')
  }
  return slim
}

/** Starts the mounted image in namespaces of its own, waits until its health check passes, asks it something, and stops it. */
async function tryImage(folder: string, mounted: string): Promise<void> {
  const env = Object.fromEntries(
    instructions('ENV').flatMap((line) =>
      [...line.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value]) => [name, value]),
    ),
  )
  const [uid = '', gid = ''] = (instructions('USER').at(-1) ?? '').split(':')
  const [volume = ''] = instructions('VOLUME')
  const entry: string[] = JSON.parse(instructions('ENTRYPOINT').at(-1) ?? '[]')
  const command: string[] = JSON.parse(instructions('CMD').at(-1) ?? '[]')
  const check: string[] = JSON.parse(/CMD (\[.*\])$/.exec(instructions('HEALTHCHECK').at(-1) ?? '')?.[1] ?? '[]')
  // Empty, as a tmpfs is: the server makes its folders itself.
  const state = join(folder, 'state')
  mkdirSync(state, { mode: 0o700 })
  chownSync(state, Number(uid), Number(gid))

  // Loopback only, in a network of its own: the port is the image's, whatever else runs here.
  const prepare = [
    'set -e; ip link set lo up; cd /',
    `mount --bind ${mounted} ${mounted}; mount -o remount,bind,ro ${mounted}`,
    `mount -t proc proc ${mounted}/proc; mount -t tmpfs tmpfs ${mounted}/tmp; mount --rbind /dev ${mounted}/dev`,
    `mount --bind ${state} ${mounted}${volume}`,
    `exec chroot ${mounted} "$@"`,
  ].join('\n')
  const asUser = ['setpriv', '--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs', '--bounding-set=-all']
  const inside = ['env', '-C', instructions('WORKDIR').at(-1) ?? '/', ...asUser, '--inh-caps=-all']
  const token = 'an-operator-for-the-image-test'
  const child = spawn(
    'unshare',
    ['--mount', '--net', '--pid', '--fork', '--kill-child', 'sh', '-c', prepare, 'sh', ...inside, ...entry, ...command],
    {
      env: { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', ...env, QUARTERDECK_OPERATOR_TOKEN: token },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  try {
    /** Runs a program in the container. */
    const exec = (args: readonly string[]) => {
      const [pid = ''] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ')
      const enter = ['-t', pid, '--mount', '--net', '--pid', '--root', '--', ...asUser, '--inh-caps=-all', ...args]
      return execFileSync('nsenter', enter, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    }
    const began = performance.now()
    for (;;) {
      try {
        exec(check)
        break
      } catch (error) {
        if (child.exitCode !== null || performance.now() - began > 120_000)
          throw new Error(`not healthy: ${error}\n${log}`)
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
    }
    say(`healthy after ${((performance.now() - began) / 1000).toFixed(1)} s, by its own health check`)
    const ask = `fetch('http://127.0.0.1:8000/chat', { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ${token}' }, body: JSON.stringify({ message: 'count 3' }) }).then(async (a) => console.log(a.status, (await a.text()).includes('1, 2, 3')))`
    expectText('answers', exec(['node', '-e', ask]), '200 true\n')
    const given = Object.entries(env).map(([name, value]) => `${name}=${value}`)
    const kept = exec(['env', '-C', '/agent', ...given, 'quarterdeck', 'backup', `${volume}/backup`])
    expectText(
      'backs up',
      kept.replace(/\d+\.\d MB/, 'some MB'),
      `${volume}/backup: the database and 0 files, some MB, checked.\n`,
    )
    const status = exec(['sh', '-c', 'cat /proc/1/status'])
    expectText('runs as', /^Uid:\s+(\d+)/m.exec(status)?.[1] ?? '', uid)
    expectText('has the capabilities', /^CapEff:\s+(\w+)/m.exec(status)?.[1] ?? '', '0000000000000000')
    for (const path of ['/x', '/app/x', '/agent/x', '/usr/local/bin/x']) {
      expectText(`writes ${path}`, exec(['sh', '-c', `touch ${path} 2>/dev/null && echo yes || echo no`]), 'no\n')
    }
    const [server = ''] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ')
    process.kill(Number(server), 'SIGTERM')
    expectText('ends with', String(await ended), '0')
  } finally {
    child.kill('SIGKILL')
    await ended
  }
}

function expectText(what: string, found: string, expected: string): void {
  if (found !== expected) throw new Error(`The image ${what} ${found.trim()}, and not ${expected.trim()}.`)
  say(`${what} ${found.trim()}`)
}

async function main(): Promise<void> {
  const why = whyNot()
  if (why !== null) return say(`The image was neither built nor tried: ${why}`)
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-image-'))
  const store = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs']
  const buildah = (...args: string[]) => run('buildah', [...store, ...args])
  try {
    const bases = [...new Set(stages.map(({ image }) => image))]
    for (const image of bases) {
      const slim = makeBase(folder, image)
      const container = buildah('from', 'scratch').trim()
      buildah('add', '--quiet', container, slim, '/')
      buildah('config', '--env', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', container)
      buildah('commit', '--quiet', '--rm', container, `docker.io/library/${image}`)
    }
    const began = performance.now()
    buildah(
      'bud',
      '--isolation',
      'chroot',
      '--pull-never',
      '--format',
      'docker',
      '--quiet',
      '--tag',
      'quarterdeck',
      '.',
    )
    const seconds = (performance.now() - began) / 1000
    say(`built in ${seconds.toFixed(0)} s (limit ${LIMIT_SECONDS})`)

    const mounted = buildah('mount', buildah('from', '--pull-never', 'quarterdeck').trim()).trim()
    const bytesIn = (path: string) => Number(run('du', ['-sb', path]).split('\t')[0])
    const [all, ocr] = [bytesIn(mounted), bytesIn(join(mounted, OCR_DATA))]
    const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
    say(`${mb(all)} in files, ${mb(all - ocr)} without the data for OCR (limit ${mb(LIMIT_BYTES)})`)
    if (seconds > LIMIT_SECONDS || all - ocr > LIMIT_BYTES) throw new Error('The image misses a limit.')
    await tryImage(folder, mounted)
  } finally {
    run('sh', ['-c', `buildah ${store.join(' ')} umount --all >/dev/null 2>&1 || true`])
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}

await main()

import { execFileSync, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isRunning } from '../../tools/process/testing/is-running.ts'
import { readFiles, writeFiles } from '../checkpoints/testing/workspace.ts'
import { openWorktree } from '../worktrees/testing/open-worktree.ts'
import { type HostedPlaces, hostedSandbox } from './hosted-sandbox.ts'
import { findSandbox } from './sandbox.ts'

const bubblewrap = await findSandbox(fs.existsSync('/usr/bin/bwrap') ? '/usr/bin/bwrap' : null)
const git = fs.existsSync('/usr/bin/git') ? '/usr/bin/git' : null
const why = bubblewrap.found === null ? bubblewrap.why : git === null ? 'git is not installed' : null

/** Not below the temporary folder, of which a sandbox has its own. */
const base = join(import.meta.dirname, '../../../node_modules/.cache')

const inRepository = (workspace: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=P', '-c', 'user.email=p@localhost', '-C', workspace, ...args], {
    encoding: 'utf8',
    env: { PATH: '/usr/bin:/bin', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
  })

async function hosted(files: Record<string, string> = {}, more: Partial<HostedPlaces> = {}) {
  fs.mkdirSync(base, { recursive: true })
  const opened = await openWorktree(
    { 'a.txt': 'one\n', '.gitignore': 'node_modules/\n', 'node_modules/x/index.js': 'x\n', ...files },
    {
      base,
      git,
      prepare(workspace) {
        inRepository(workspace, 'init', '--quiet', '--initial-branch=work')
        inRepository(workspace, 'add', '.')
        inRepository(workspace, 'commit', '--quiet', '--message=first')
        writeFiles(workspace, { 'uncommitted.txt': 'u\n' })
      },
    },
  )
  const { top, workspace, worktree } = opened
  const operatorHome = join(top, 'operator')
  writeFiles(operatorHome, { '.ssh/id_ed25519': 'secret', '.npmrc': 'secret', '.config/gh/hosts.yml': 'secret' })
  writeFiles(operatorHome, { '.profile': 'plain', '.docker/config.json': 'secret', '.claude.json': 'secret' })
  writeFiles(join(top, 'config'), { 'tokens.json': 'secret' })
  const { folder, home } = worktree
  const places: HostedPlaces = {
    ...{ workspace, worktree, folder, home, operatorHome, network: false, writable: [], shown: [] },
    masked: [join(top, 'data'), join(top, 'config')],
    ...more,
  }
  const line = (script: string) => {
    if (bubblewrap.found === null) throw new Error('There is no sandbox.')
    return hostedSandbox(bubblewrap.found, places, ['/bin/sh', '-c', script])
  }
  const run = (script: string): string[] => {
    const [program, ...args] = line(script)
    const out = execFileSync(program, args, { encoding: 'utf8', env: { PATH: '/usr/bin:/bin' }, stdio: 'pipe' })
    return out.split('\n').slice(0, -1)
  }
  return { ...opened, operatorHome, places, line, run }
}

describe.skipIf(why !== null)(`a hosted agent in its sandbox${why === null ? '' : ` (skipped: ${why})`}`, () => {
  test('writes at the path of its workspace, and only its worktree changes', async () => {
    const { run, workspace, worktree } = await hosted()
    const before = readFiles(workspace)
    expect(
      run(`pwd; echo two > ${workspace}/a.txt; echo new > new.txt; cat a.txt uncommitted.txt node_modules/x/index.js`),
    ).toEqual([workspace, 'two', 'u', 'x'])
    expect(readFiles(workspace)).toEqual(before)
    expect((await worktree.changes()).changes.map(({ kind, path }) => [kind, path])).toEqual([
      ['modify', 'a.txt'],
      ['create', 'new.txt'],
    ])
  })

  test('cannot write anywhere else, not even as root, and cannot undo that', async () => {
    const { run, top } = await hosted()
    // A sandbox that fails must not change this machine, so this asks the kernel and writes nothing.
    const places = [
      top,
      `${top}/operator`,
      '/usr',
      '/etc',
      'node_modules/x',
      '/proc/sys/kernel/core_pattern',
      '/proc/irq',
    ]
    expect(run(`for p in ${places.join(' ')}; do [ -w $p ] && echo $p; done; grep ^CapEff /proc/self/status`)).toEqual([
      'CapEff:\t0000000000000000',
    ])
    expect(run('mount -o remount,rw,bind / 2>/dev/null || echo no')).toEqual(['no'])
    expect(run('touch "$HOME/x" /tmp/x; cd "$HOME"; ls -A . /tmp')).toEqual(['.:', 'x', '', '/tmp:', 'x'])
  })

  test('sees no credentials and nothing of the server', async () => {
    const { run, operatorHome, top } = await hosted()
    const { home, ...places } = { home: operatorHome, config: join(top, 'config'), data: join(top, 'data') }
    expect(
      run(
        `cat ${home}/.profile; echo; cat ${home}/.npmrc ${home}/.claude.json; ls -A ${home}/.ssh ${home}/.config/gh ${home}/.docker | grep -v ':$'; ls -A ${places.config}; ls -A ${places.data}/worktrees/S1; ls -A /run | wc -l`,
      ),
    ).toEqual(['plain', '', '', 'home', 'objects', '0'])
  })

  test('has the history of the repository, on its branch, and commits in private', async () => {
    const { run, workspace } = await hosted()
    const objects = readFiles(join(workspace, '.git'))
    expect(run('git status --short --branch; git log --format=%s; git show HEAD:a.txt')).toEqual([
      '## work...workspace/work',
      '?? uncommitted.txt',
      'first',
      'one',
    ])
    expect(
      run('echo two > a.txt; git commit -qam second; git log --format=%s; git fsck --no-dangling && echo whole'),
    ).toEqual(['second', 'first', 'whole'])
    expect(readFiles(join(workspace, '.git'))).toEqual(objects)
  })

  test('has dependencies read-only, with a place for the caches of tools', async () => {
    const { run, workspace } = await hosted({ 'node_modules/.cache/old': 'x' })
    const script = 'cat node_modules/x/index.js; echo new > node_modules/.cache/new && ls -A node_modules/.cache'
    expect([run(script), fs.readdirSync(join(workspace, 'node_modules/.cache'))]).toEqual([['x', 'new'], ['old']])
    expect(run('mkdir dist && echo out > dist/x; (echo x > node_modules/y) 2>/dev/null || echo no')).toEqual(['no'])
  })

  test('without network reaches no port of this machine, and with it does', async () => {
    const server = createServer((socket) => socket.end('hello'))
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const script = `timeout 5 bash -c 'cat < /dev/tcp/127.0.0.1/${port}' 2>/dev/null || echo none`
    const reach = async (network: boolean): Promise<string> => {
      const { line } = await hosted({}, { network })
      const [program, ...args] = line(script)
      const child = spawn(program, args, { env: { PATH: '/usr/bin:/bin' } })
      return (await child.stdout.setEncoding('utf8').toArray()).join('').trim()
    }
    expect([await reach(false), await reach(true)]).toEqual(['none', 'hello'])
  })

  test('that writes through us sees the real workspace, read-only', async () => {
    const { run, workspace } = await hosted({}, { worktree: null })
    expect(run('cat a.txt; (echo x > a.txt) 2>/dev/null || echo no; (echo x > new) 2>/dev/null || echo no')).toEqual([
      'one',
      'no',
      'no',
    ])
    expect(fs.readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('one\n')
  })

  test('puts nothing over what it made itself, and mounts nothing through a link', async () => {
    const { inTree, worktree, run, workspace } = await hosted({ 'sub/node_modules/y.js': 'y\n', 'sub/b.txt': 'b\n' })
    expect(worktree.mounts).toEqual(['node_modules', 'sub/node_modules'])
    run('echo')
    fs.rmdirSync(inTree('node_modules'))
    fs.symlinkSync('/etc', inTree('node_modules'))
    fs.rmSync(inTree('sub'), { recursive: true })
    fs.symlinkSync('/usr', inTree('sub'))
    await worktree.refresh()
    expect(worktree.mounts).toEqual([])
    expect(run('ls -d node_modules')).toEqual(['node_modules'])
    expect(readFiles(workspace)['sub/b.txt']).toBe('b\n')
  })

  test('leaves no process when the server is killed', async () => {
    const { line } = await hosted()
    const command = line('(sleep 1000 & echo $!; setsid sleep 1001) & cat /proc/self/stat > /dev/null; echo up; wait')
    const parent = spawn(
      process.execPath,
      [
        '-e',
        `const c = require('node:child_process').spawn(...${JSON.stringify([command[0], command.slice(1)])}, { stdio: 'inherit' }); console.log('pid', c.pid); setInterval(() => {}, 1000)`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let said = ''
    for await (const piece of parent.stdout.setEncoding('utf8')) {
      said += piece
      if (said.includes('up') && said.includes('pid')) break
    }
    const sandboxPid = Number(/pid (\d+)/.exec(said)?.[1])
    const below = () => descendantsOf(sandboxPid)
    await expect.poll(() => below().length).toBeGreaterThanOrEqual(4)
    const all = [sandboxPid, ...below()]
    parent.kill('SIGKILL')
    await expect.poll(() => all.filter(isRunning)).toEqual([])
  })
})

function descendantsOf(pid: number): number[] {
  const parents = fs.readdirSync('/proc').flatMap((name) => {
    try {
      const after = /^\d+$/.test(name) ? fs.readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1] : undefined
      return after === undefined ? [] : [[Number(name), Number(after.split(' ')[1])] as const]
    } catch {
      return []
    }
  })
  const below = (one: number): number[] =>
    parents.flatMap(([child, parent]) => (parent === one ? [child, ...below(child)] : []))
  return below(pid)
}

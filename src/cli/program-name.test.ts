import { chmod, mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { spelled } from '../domain/settings/program-words.ts'
import { type ProgramFacts, programName } from './program-name.ts'
import { tempFolder } from './testing/temp-folder.ts'

const makeFile = async (path: string, text = ''): Promise<string> => {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  return path
}
const makeLink = async (path: string, to: string): Promise<string> => {
  await mkdir(dirname(path), { recursive: true })
  await symlink(to, path)
  return path
}

const emptyFolder = async (): Promise<string> => realpath(await tempFolder())

const name = (facts: Pick<ProgramFacts, 'script' | 'cwd'> & Partial<ProgramFacts>): string =>
  programName({
    ...{ env: {}, pid: 700, ppid: 600, hostname: '0123456789ab', platform: 'linux', exists: () => false },
    ...facts,
  })

describe('the program is called', () => {
  test('by its name if the PATH leads to it, but not if only npm’s own does', async () => {
    const folder = await emptyFolder()
    const launcher = await makeFile(join(folder, 'lib/quarterdeck/bin/quarterdeck.js'))
    const script = await makeLink(join(folder, 'bin/quarterdeck'), launcher)
    await makeLink(join(folder, 'node_modules/.bin/quarterdeck'), launcher)
    await makeFile(join(folder, 'other/quarterdeck'))
    const cwd = await emptyFolder()

    expect(name({ script, cwd, env: { PATH: `${folder}/none:${folder}/bin` } })).toBe('quarterdeck')
    for (const PATH of [`${folder}/other`, `${folder}/node_modules/.bin`, '']) {
      expect(name({ script, cwd, env: { PATH } })).toBe(`node ${launcher}`)
    }
  })

  test('by npx where npx finds it: in a project, in its folders, and in npm’s copy', async () => {
    const folder = await emptyFolder()
    const script = await makeFile(join(folder, 'node_modules/quarterdeck/bin/quarterdeck.js'))
    await makeLink(join(folder, 'node_modules/.bin/quarterdeck'), script)
    await makeFile(join(folder, 'shop/agent.yaml'))
    const cwd = await emptyFolder()
    const copy = async (packages: string[]) => {
      const project = join(await emptyFolder(), '_npx/0a1b')
      await makeFile(join(project, 'package.json'), JSON.stringify({ _npx: { packages } }))
      return makeFile(join(project, 'node_modules/quarterdeck/bin/quarterdeck.js'))
    }
    const [fromRegistry, fromFile] = [await copy(['quarterdeck']), await copy(['/tmp/quarterdeck-0.1.0.tgz'])]

    expect(name({ script, cwd: folder })).toBe('npx quarterdeck')
    expect(name({ script, cwd: join(folder, 'shop') })).toBe('npx quarterdeck')
    expect(name({ script, cwd })).toBe(`node ${script}`)
    expect(name({ script: fromRegistry, cwd })).toBe('npx quarterdeck')
    expect(name({ script: fromFile, cwd })).toBe(`node ${fromFile}`)
    expect(name({ script: fromRegistry, cwd: folder })).toBe(`node ${fromRegistry}`)
  })

  test('by npx in its own checkout, and by its path in another package there', async () => {
    const checkout = await emptyFolder()
    const script = await makeFile(join(checkout, 'bin/quarterdeck.js'))
    await makeFile(join(checkout, 'package.json'), '{}')
    await makeFile(join(checkout, 'examples/assistant/agent.yaml'))
    await makeFile(join(checkout, 'examples/page/package.json'), '{}')

    expect(name({ script, cwd: checkout })).toBe('npx quarterdeck')
    expect(name({ script, cwd: join(checkout, 'examples/assistant') })).toBe('npx quarterdeck')
    expect(name({ script, cwd: join(checkout, 'examples/page') })).toBe(`node ${script}`)
  })

  test('with the config folder if one is set, and in quotes where a shell needs them', async () => {
    const folder = join(await emptyFolder(), "Ada's shop")
    const script = await makeFile(join(folder, 'bin/quarterdeck.js'))
    await chmod(script, 0o755)

    const env = { QUARTERDECK_CONFIG_DIR: '/srv/config' }
    expect(name({ script, cwd: '/', env })).toBe(
      `QUARTERDECK_CONFIG_DIR=/srv/config node '${script.replace("'", "'\\''")}'`,
    )
  })

  test('from outside if it is the first process of a container', () => {
    const first = { script: '/app/bin/quarterdeck.js', cwd: '/agent', pid: 1, ppid: 0 }
    const exists = (path: string) => path === '/.dockerenv'

    expect(name({ ...first, exists })).toBe('docker exec -it 0123456789ab quarterdeck')
    expect(name({ ...first, pid: 7, ppid: 1, exists })).toBe('docker exec -it 0123456789ab quarterdeck')
    expect(name({ ...first, exists: (path) => path === '/run/.containerenv' })).toBe(
      'podman exec -it 0123456789ab quarterdeck',
    )
    const pod = { env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' }, hostname: 'agents-0' }
    expect(name({ ...first, ...pod })).toBe('kubectl exec -it agents-0 -- quarterdeck')
    // Somebody works in the container and has typed the command there.
    expect(name({ ...first, pid: 700, ppid: 600, exists })).toBe('node /app/bin/quarterdeck.js')
  })
})

test('commands in a text are spelled as one types them, and nothing else is', () => {
  const text = 'Run quarterdeck tokens create, or `quarterdeck ctl`. For more: quarterdeck <command> --help'
  expect(spelled(text, 'npx quarterdeck')).toBe(
    'Run npx quarterdeck tokens create, or `npx quarterdeck ctl`. For more: npx quarterdeck <command> --help',
  )
  for (const other of ['/opt/quarterdeck is here', 'Quarterdeck serves', 'quarterdeck: no', 'my-quarterdeck serve']) {
    expect(spelled(other, 'npx quarterdeck')).toBe(other)
  }
})

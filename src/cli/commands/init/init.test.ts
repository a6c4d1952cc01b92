import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { loadAgent } from '../../../config/agent/load-agents.ts'
import { main } from '../../main.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo, type TestIoOptions } from '../../testing/test-io.ts'
import { starterProviders } from './project-files.ts'
import { nameFromFolder } from './questions.ts'

async function init(cwd: string, args: string[], options: TestIoOptions = {}) {
  const io = createTestIo({ cwd, ...options })
  const exitCode = await main(['init', ...args], io)
  return { exitCode, out: io.printed(), err: io.complained() }
}

describe('quarterdeck init', () => {
  test.each(Object.keys(starterProviders))(
    'makes a project for %s whose agent loads as it stands',
    async (provider) => {
      const cwd = await tempFolder()

      expect(await init(cwd, ['my helper', '--provider', provider, '--yes'])).toMatchObject({ exitCode: 0, err: '' })

      expect((await readdir(join(cwd, 'my helper'))).toSorted()).toEqual([
        '.env.example',
        '.gitignore',
        'README.md',
        'agent.yaml',
        'package.json',
        'tools.ts',
      ])
      const agent = loadAgent(join(cwd, 'my helper', 'agent.yaml'), { env: {} })
      expect([agent.name, agent.model?.provider]).toEqual(['my-helper', provider])
    },
  )

  test('keeps keys and conversations out of git and names the key to set', async () => {
    const cwd = await tempFolder()

    const { out } = await init(cwd, ['a', '--provider', 'anthropic', '--yes'])

    expect(await readFile(join(cwd, 'a', '.gitignore'), 'utf8')).toContain('.quarterdeck/\nnode_modules/\n.env\n')
    expect(await readFile(join(cwd, 'a', '.env.example'), 'utf8')).toContain('ANTHROPIC_API_KEY=\n')
    expect(out).toBe(
      'Made agent.yaml, tools.ts, package.json, .env.example, .gitignore, README.md in a.\n\nNext:\n  cd a\n' +
        '  cp .env.example .env     # then write your key after ANTHROPIC_API_KEY=\n' +
        '  quarterdeck serve    # serve it, and open the address that is printed\n' +
        '  quarterdeck chat     # or talk to it here\n' +
        '  quarterdeck test     # run its test case\n',
    )
  })

  test('takes names that YAML would read as something else', async () => {
    const cwd = await tempFolder()

    await init(cwd, ['a', '--name', 'null', '--provider', 'ollama', '--model', '1.0: #x', '--yes'])

    const agent = loadAgent(join(cwd, 'a', 'agent.yaml'), { env: {} })
    expect([agent.name, agent.model?.name]).toEqual(['null', '1.0: #x'])
  })

  test('makes a module with a tool and a test case that passes', async () => {
    const cwd = join(await tempFolder(), 'Helper')
    await mkdir(cwd)
    await init(cwd, [])

    const manifest: unknown = JSON.parse(await readFile(join(cwd, 'package.json'), 'utf8'))
    expect(manifest).toMatchObject({
      name: 'helper',
      type: 'module',
      dependencies: { quarterdeck: expect.stringMatching(/^file:/), zod: expect.stringMatching(/^\^4/) },
    })
    // As `npm install` leaves it in an empty folder, without a type. Nothing is installed: zod and quarterdeck are this program's own.
    await writeFile(join(cwd, 'package.json'), '{ "dependencies": {} }')
    const program = fileURLToPath(new URL('../../../../bin/quarterdeck.js', import.meta.url))
    const tested = await promisify(execFile)(process.execPath, [program, 'test'], {
      cwd,
      env: { PATH: process.env.PATH },
    })
    expect(tested).toEqual({ stdout: expect.stringContaining('1 of 1 test case passed'), stderr: '' })
  })

  test('keeps existing files, and overwrites an agent only with --force', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'package.json'), '{}')
    await writeFile(join(cwd, '.gitignore'), 'node_modules\n')

    expect((await init(cwd, ['--yes'])).out).toContain(
      'Made agent.yaml, tools.ts, .env.example, README.md. Kept package.json, .gitignore.\n' +
        'Add .quarterdeck/, .env to .gitignore: conversations and keys must stay private.\n',
    )
    await writeFile(join(cwd, 'tools.ts'), 'mine')
    expect(await init(cwd, ['--yes'])).toEqual({
      exitCode: 73,
      out: '',
      err:
        'quarterdeck: . has agent.yaml, tools.ts already. Nothing was changed.\n' +
        '  Choose another folder: quarterdeck init <folder>; or overwrite them: --force\n',
    })
    expect(await readFile(join(cwd, 'tools.ts'), 'utf8')).toBe('mine')
    expect(await init(cwd, ['--yes', '--force'])).toMatchObject({ exitCode: 0 })
    expect(await readFile(join(cwd, 'tools.ts'), 'utf8')).toContain('get_time')
    expect(await readFile(join(cwd, 'package.json'), 'utf8')).toBe('{}')
  })

  test('asks at a terminal before it overwrites', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'agent.yaml'), 'mine')
    const stdin = new PassThrough()
    const io = createTestIo({ cwd, stdin, terminal: true, env: { NO_COLOR: '1' } })

    const made = main(['init', '.', '--name', 'parrot', '--provider', 'demo'], io)
    await io.until('Overwrite? [y/N]')
    stdin.write('n\n')

    expect([await made, await readdir(cwd), await readFile(join(cwd, 'agent.yaml'), 'utf8')]).toEqual([
      1,
      ['agent.yaml'],
      'mine',
    ])
  })

  test('asks nothing without a terminal, and makes a folder if this one is not empty', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'thesis.md'), 'mine')

    expect(await init(cwd, [])).toMatchObject({ exitCode: 0 })
    expect(loadAgent(join(cwd, 'my-agent', 'agent.yaml'), { env: {} })).toMatchObject({
      name: 'my-agent',
      model: { provider: 'demo' },
    })
  })

  test('asks at a terminal for what the flags left open', async () => {
    const cwd = await tempFolder()
    const stdin = new PassThrough()
    const io = createTestIo({ cwd, stdin, terminal: true, env: { NO_COLOR: '1' } })

    const made = main(['init', 'talker', '--model', 'gpt-x'], io)
    await io.until('What is the name of the agent?')
    stdin.write('parrot\r')
    await io.until('Which provider runs the model?')
    stdin.write('\x1b[B\r')

    expect(await made).toBe(0)
    expect(loadAgent(join(cwd, 'talker', 'agent.yaml'), { env: {} })).toMatchObject({
      name: 'parrot',
      model: { provider: 'openai', name: 'gpt-x' },
    })
  })

  test('creates nothing when the person cancels', async () => {
    const cwd = await tempFolder()
    const stdin = new PassThrough()
    const io = createTestIo({ cwd, stdin, terminal: true })

    const made = main(['init'], io)
    await io.until('In which folder?')
    stdin.write('\x03')

    expect([await made, await readdir(cwd)]).toEqual([1, []])
  })

  test('says what to do when it cannot write', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'taken'), 'a file')

    expect(await init(cwd, ['taken'])).toMatchObject({
      exitCode: 73,
      err: 'quarterdeck: Files cannot be written in taken (EEXIST).\n  Choose a folder that you may write to: quarterdeck init <folder>\n',
    })
  })

  test('leaves the checkout of the program as it is, and says where to make a project', async () => {
    const checkout = fileURLToPath(new URL('../../../..', import.meta.url))
    const files = await readdir(checkout)

    for (const folder of ['helper', '.', 'examples/helper']) {
      expect(await init(checkout, [folder, '--yes'])).toEqual({
        exitCode: 73,
        out: '',
        err:
          `quarterdeck: ${folder === '.' ? 'This folder' : folder} is in the checkout of Quarterdeck. Nothing was created.\n` +
          '  Choose a folder beside it: quarterdeck init ../my-agent\n',
      })
    }

    expect(await readdir(checkout)).toEqual(files)
  })

  test('refuses names and providers it cannot use', async () => {
    const cwd = await tempFolder()

    expect(await init(cwd, ['--name', '9 lives'])).toMatchObject({
      exitCode: 2,
      err: 'quarterdeck: --name "9 lives" is not a valid name for an agent.\n  Write a letter, then letters, digits, - or _, at most 64 characters in all.\n',
    })
    expect((await init(cwd, ['--provider', 'skynet'])).exitCode).toBe(2)
    expect(await readdir(cwd)).toEqual([])
  })
})

test('an agent is named after its folder, as far as the rules for names allow', () => {
  expect(
    ['helper', './my helper/', '../..', '42', 'C:\\agents\\über', 'Café 茶', `a${'b'.repeat(80)}`].map(nameFromFolder),
  ).toEqual(['helper', 'my-helper', 'assistant', 'assistant', 'uber', 'Cafe', `a${'b'.repeat(63)}`])
})

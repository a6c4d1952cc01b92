import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { loadAgent } from '../config/load-agent.ts'
import { nameFromFolder } from './init-questions.ts'
import { main } from './main.ts'
import { starterProviders } from './project-files.ts'
import { tempFolder } from './testing/temp-folder.ts'
import { createTestIo, type TestIoOptions } from './testing/test-io.ts'

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
      ])
      const agent = loadAgent(join(cwd, 'my helper', 'agent.yaml'), { env: {} })
      expect([agent.name, agent.model.provider]).toEqual(['my-helper', provider])
    },
  )

  test('keeps keys and conversations out of git and names the key to set', async () => {
    const cwd = await tempFolder()

    const { out } = await init(cwd, ['a', '--provider', 'anthropic', '--yes'])

    expect(await readFile(join(cwd, 'a', '.gitignore'), 'utf8')).toContain('.quarterdeck/\n.env\n')
    expect(await readFile(join(cwd, 'a', '.env.example'), 'utf8')).toContain('ANTHROPIC_API_KEY=\n')
    expect(out).toBe(
      'Made a with agent.yaml, .env.example, .gitignore, README.md.\n\nNext:\n  cd a\n' +
        '  cp .env.example .env     # then write your key behind ANTHROPIC_API_KEY=\n  npx quarterdeck serve\n',
    )
  })

  test('takes names that YAML would read as something else', async () => {
    const cwd = await tempFolder()

    await init(cwd, ['a', '--name', 'null', '--provider', 'ollama', '--model', '1.0: #x', '--yes'])

    const agent = loadAgent(join(cwd, 'a', 'agent.yaml'), { env: {} })
    expect([agent.name, agent.model.name]).toEqual(['null', '1.0: #x'])
  })

  test('overwrites nothing', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'README.md'), 'mine')

    expect(await init(cwd, ['.', '--yes'])).toEqual({
      exitCode: 73,
      out: '',
      err: 'quarterdeck: . has README.md already. Nothing was changed.\n  Choose another folder: quarterdeck init <folder>\n',
    })
    expect(await readdir(cwd)).toEqual(['README.md'])
  })

  test('asks nothing where there is no terminal', async () => {
    const cwd = await tempFolder()

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
    await io.until('What is the agent called?')
    stdin.write('parrot\r')
    await io.until('Which model answers?')
    stdin.write('\x1b[B\r')

    expect(await made).toBe(0)
    expect(loadAgent(join(cwd, 'talker', 'agent.yaml'), { env: {} })).toMatchObject({
      name: 'parrot',
      model: { provider: 'openai', name: 'gpt-x' },
    })
  })

  test('makes nothing when the person leaves', async () => {
    const cwd = await tempFolder()
    const stdin = new PassThrough()
    const io = createTestIo({ cwd, stdin, terminal: true })

    const made = main(['init'], io)
    await io.until('In which folder?')
    stdin.write('\x03')

    expect([await made, await readdir(cwd)]).toEqual([1, []])
  })

  test('refuses names and providers it cannot use', async () => {
    const cwd = await tempFolder()

    expect(await init(cwd, ['--name', '9 lives'])).toMatchObject({
      exitCode: 2,
      err: 'quarterdeck: --name "9 lives" is no name for an agent.\n  Write a letter, then letters, digits, - or _, at most 64 in all.\n',
    })
    expect((await init(cwd, ['--provider', 'skynet'])).exitCode).toBe(2)
    expect(await readdir(cwd)).toEqual([])
  })
})

test('an agent is named after its folder as far as the rules allow', () => {
  expect(
    ['helper', './my helper/', '../..', '42', 'C:\\agents\\über', `a${'b'.repeat(80)}`].map(nameFromFolder),
  ).toEqual(['helper', 'my-helper', 'assistant', 'assistant', 'ber', `a${'b'.repeat(63)}`])
})

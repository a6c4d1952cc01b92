// `serve --watch`: the restarts with apps that listen nowhere, and the real command as a process. Files are written at once, because the
// watch must not look at a file that is half written, or at two of three changes.

import { spawn } from 'node:child_process'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { appendFile, open, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../../app/load-config.ts'
import { createSystemClock } from '../../../domain/clock.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { createTestIo } from '../../testing/test-io.ts'
import { serve } from './serve.ts'
import type { StartApp } from './start-app.ts'
import { watchTargets } from './watch.ts'

const agent = (name: string, more = ''): string =>
  `name: ${name}\nmodel: { provider: demo }\ninstructions: Hi.\n${more}`

describe('serve --watch', () => {
  /** Records starts and ends. Agents in `refuse` fail to start. */
  async function watched(cwd: string, refuse: Set<string>, started = async () => {}) {
    const life: string[] = []
    const start: StartApp = async ({ agents, settings }, _log, _io, { reload } = {}) => {
      const name = agents[0]?.name ?? ''
      if (refuse.has(name)) throw new Error(`${name} does not start`)
      life.push(`start ${name} ${reload} :${settings.port}`)
      setImmediate(started)
      return {
        url: `http://127.0.0.1:${settings.port || 4321}`,
        activeRuns: () => 0,
        close: async ({ drainMs }) => void life.push(`close ${name} ${drainMs}`),
        madeToken: null,
        operatorToken: null,
        hasOperator: true,
        newConsoleCode: async () => 'one-time-code',
        doors: ['ag-ui'],
        unconfined: [],
      }
    }
    // Its clock stands still, however busy the machine is.
    const io = createTestIo({ cwd, clock: { ...createSystemClock(), mono: () => 0 } })
    const flags = { port: '0', 'log.level': 'silent' }
    const stopped = serve({ files: [], flags, watch: true }, '1.2.3', start, io)
    await io.until('Watching')
    return { io, life, stopped }
  }

  test('restarts on the same port, and ignores a change that cannot be used', async () => {
    const cwd = await tempFolder()
    writeFileSync(join(cwd, 'agent.yaml'), agent('crow'))
    const { io, life, stopped } = await watched(cwd, new Set())

    writeFileSync(join(cwd, 'agent.yaml'), agent('raven'))
    await io.until('s: agent.yaml changed.\n')
    writeFileSync(join(cwd, 'agent.yaml'), agent('magpie', 'colour: black\n'))
    await io.until('The server goes on as it was.')
    for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(cwd, `${name}.md`), 'new')
    writeFileSync(join(cwd, 'agent.yaml'), agent('magpie'))
    await io.until('s: a.md, agent.yaml, b.md and 2 more changed.\n')
    io.signal('SIGTERM')

    expect(await stopped).toBe(0)
    expect(life).toEqual([
      'start crow 0 :0',
      'close crow 1000',
      'start raven 1 :4321',
      'close raven 1000',
      'start magpie 3 :4321',
      'close magpie 5000',
    ])
    expect(io.complained()).toMatch(
      /^agent\.yaml changed, but the change cannot be used:\nquarterdeck: \S*agent\.yaml:4:1 colour: unknown key\..*\nThe server goes on as it was\.\nStopping\.\n$/,
    )
  })

  test('does not replace a missing agent file by the demo agent', async () => {
    const cwd = await tempFolder()
    writeFileSync(join(cwd, 'agent.yaml'), agent('crow'))
    const { io, life, stopped } = await watched(cwd, new Set())

    renameSync(join(cwd, 'agent.yaml'), join(cwd, 'agent.old'))
    await io.until('The server goes on as it was.')
    writeFileSync(join(cwd, 'agent.yaml'), agent('raven'))
    await io.until('s: agent.yaml changed.\n')
    io.signal('SIGTERM')
    await stopped

    expect(life.filter((line) => line.startsWith('start'))).toEqual(['start crow 0 :0', 'start raven 2 :4321'])
    expect(io.complained()).toContain('The agent file is missing.')
  })

  test('a change that a start would refuse does not stop the server', async () => {
    const cwd = await tempFolder()
    writeFileSync(join(cwd, 'agent.yaml'), agent('crow'))
    const { io, life, stopped } = await watched(cwd, new Set())

    writeFileSync(join(cwd, 'agent.yaml'), 'name: raven\nmodel: { provider: openai, name: x }\ninstructions: Hi.\n')
    await io.until('The server goes on as it was.')
    io.signal('SIGTERM')
    await stopped

    expect(life).toEqual(['start crow 0 :0', 'close crow 5000'])
    expect(io.complained()).toMatch(/agent\.yaml:2:8 model: provider: openai needs a key\./)
  })

  test('restarts at most a few times for files that the server itself writes', async () => {
    const cwd = await tempFolder()
    writeFileSync(join(cwd, 'agent.yaml'), agent('crow'))
    const { io, life, stopped } = await watched(cwd, new Set(), () =>
      // As `serve --watch | tee out.txt` does.
      appendFile(join(cwd, 'out.txt'), '.'),
    )

    await io.until('out.txt changed at every start, so it is no longer watched.\n')
    writeFileSync(join(cwd, 'agent.yaml'), agent('raven'))
    await io.until('s: agent.yaml changed.\n')
    io.signal('SIGTERM')
    await stopped

    expect(life.filter((line) => line.startsWith('start raven'))).toHaveLength(1)
  })

  test('does not watch the file that receives its output', async () => {
    const cwd = await tempFolder()
    writeFileSync(join(cwd, 'agent.yaml'), agent('crow'))
    await using out = await open(join(cwd, 'out.txt'), 'w')
    const io = createTestIo({ cwd })
    Object.assign(io.stdout, { fd: out.fd })
    const { folders, ignoreFile } = watchTargets([], loadConfig({ files: [], flags: {} }, io), [], io)

    expect([
      folders,
      ignoreFile?.(await stat(join(cwd, 'out.txt'))),
      ignoreFile?.(await stat(join(cwd, 'agent.yaml'))),
    ]).toEqual([[cwd], true, false])
  })

  test('watches the skills of an agent, wherever they are', async () => {
    const cwd = await tempFolder()
    const elsewhere = join(await tempFolder(), 'letters')
    mkdirSync(elsewhere)
    writeFileSync(join(elsewhere, 'SKILL.md'), '---\nname: letters\ndescription: Writes letters.\n---\n')
    writeFileSync(join(cwd, 'agent.yaml'), agent('crow', `skills: ${elsewhere}\n`))
    const { io, stopped } = await watched(cwd, new Set())

    writeFileSync(join(elsewhere, 'form.md'), 'Dear')
    await io.until('form.md changed.\n')
    io.signal('SIGTERM')
    expect(await stopped).toBe(0)
  })

  test('falls back to the old configuration if the new one cannot start, and then tries the next change', async () => {
    const cwd = await tempFolder()
    writeFileSync(join(cwd, 'agent.yaml'), agent('crow'))
    const refuse = new Set(['raven'])
    const { io, life, stopped } = await watched(cwd, refuse)

    writeFileSync(join(cwd, 'agent.yaml'), agent('raven'))
    await io.until('The server goes on as it was.')
    refuse.add('crow')
    writeFileSync(join(cwd, 'agent.yaml'), agent('raven', '# still\n'))
    await io.until('Nothing is served until this is fixed.')
    writeFileSync(join(cwd, 'agent.yaml'), agent('magpie'))
    await io.until('s: agent.yaml changed.\n')
    io.signal('SIGTERM')

    expect(await stopped).toBe(0)
    expect(life).toEqual([
      'start crow 0 :0',
      'close crow 1000',
      'start crow 0 :4321',
      'close crow 1000',
      'start magpie 3 :4321',
      'close magpie 5000',
    ])
  })

  test('watches instructions outside the folder, and files that do not exist yet', async () => {
    const cwd = await tempFolder()
    const shared = await tempFolder()
    const prompt = join(shared, 'prompt.md')
    writeFileSync(prompt, 'Be brief.')
    writeFileSync(join(cwd, 'agent.yaml'), `name: crow\nmodel: { provider: demo }\ninstructions: { file: ${prompt} }\n`)
    const { io, life, stopped } = await watched(cwd, new Set())

    writeFileSync(prompt, 'Be verbose.')
    await io.until(`s: ${relative(cwd, prompt)} changed.\n`)
    const missing = join(shared, 'missing.md')
    writeFileSync(
      join(cwd, 'agent.yaml'),
      `name: raven\nmodel: { provider: demo }\ninstructions: { file: ${missing} }\n`,
    )
    await io.until('The server goes on as it was.')
    writeFileSync(missing, 'Here I am.')
    await io.until(`s: ${relative(cwd, missing)} changed.\n`)
    writeFileSync(join(cwd, 'quarterdeck.yaml'), 'limits: { queue: 3 }\n')
    await io.until('s: quarterdeck.yaml changed.\n')
    io.signal('SIGTERM')
    await stopped

    expect(life.filter((line) => line.startsWith('start'))).toEqual([
      'start crow 0 :0',
      'start crow 1 :4321',
      'start raven 3 :4321',
      'start raven 4 :4321',
    ])
  })
})

describe('quarterdeck serve --watch as a process', () => {
  const launcher = fileURLToPath(new URL('../../../../bin/quarterdeck.js', import.meta.url))

  function start(cwd: string) {
    const args = [launcher, 'serve', '--watch', '--port', '0', '--log-level', 'silent']
    const env = { ...process.env, QUARTERDECK_CONFIG_DIR: join(cwd, '.config') }
    const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let text = ''
    let look = () => {}
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        text += String(chunk)
        look()
      })
    }
    const until = (wanted: string) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (text.includes(wanted)) resolve()
        }
        look()
      })
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    return { child, until, ended, text: () => text }
  }

  const toolModule = (word: string): string => `
    import { suffix } from './suffix.ts'
    export const greet = {
      description: 'Greets whoever is there.',
      parameters: { type: 'object' },
      run: (): string => '${word}' + suffix,
    }
  `

  test('keeps port and sessions, and loads function modules and their imports again', async () => {
    const cwd = await tempFolder()
    mkdirSync(join(cwd, 'tools'))
    writeFileSync(join(cwd, 'tools', 'greet.ts'), toolModule('good morning'))
    writeFileSync(join(cwd, 'tools', 'suffix.ts'), `export const suffix: string = ', sir'`)
    writeFileSync(
      join(cwd, 'answers.yaml'),
      'loop: true\nanswers:\n  - when: { tool: greet }\n    parts: [{ text: Done. }]\n  - parts: [{ tool_call: { name: greet } }]\n',
    )
    writeFileSync(
      join(cwd, 'agent.yaml'),
      `name: clerk
model: { provider: scripted, script: answers.yaml }
instructions: Greet.
tools:
  - type: function
    name: greet
    file: tools/greet.ts
    effect: read
`,
    )
    const server = start(cwd)
    await server.until('Watching')
    const url = /AG-UI\s+(\S+)\//.exec(server.text())?.[1] ?? ''
    const greeting = async (runId: string): Promise<string[]> => {
      const response = await fetch(`${url}/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({
          threadId: 'work',
          runId,
          messages: [{ id: `message-${runId}`, role: 'user', content: 'Hi' }],
          tools: [],
          context: [],
          state: {},
          forwardedProps: {},
        }),
      })
      return [...(await response.text()).matchAll(/"TOOL_CALL_RESULT".*?"content":"([^"]*)"/g)].map(
        ([, content = '']) => content,
      )
    }

    expect(await greeting('r1')).toEqual(['good morning, sir'])
    writeFileSync(join(cwd, 'tools', 'greet.ts'), toolModule('good evening'))
    await server.until(`s: ${join('tools', 'greet.ts')} changed.\n`)
    expect(await greeting('r2')).toEqual(['good evening, sir'])
    writeFileSync(join(cwd, 'tools', 'greet.ts'), 'export function greet(')
    await server.until('The server goes on as it was.')
    expect(await greeting('r3')).toEqual(['good evening, sir'])
    writeFileSync(join(cwd, 'tools', 'greet.ts'), toolModule('good evening'))
    writeFileSync(join(cwd, 'tools', 'suffix.ts'), `export const suffix: string = ', madam'`)
    await server.until(join('tools', 'suffix.ts'))
    expect(await greeting('r4')).toEqual(['good evening, madam'])
    const sessions: unknown = await (await fetch(`${url}/sessions`, { headers: { connection: 'close' } })).json()
    server.child.kill('SIGTERM')

    // user, call, result and answer of four runs
    expect(sessions).toMatchObject([{ message_count: 16 }])
    expect(await server.ended).toBe(0)
    expect(server.text()).toContain('Stopping.')
  })
})

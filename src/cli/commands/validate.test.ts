import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createSystemClock } from '../../domain/clock.ts'
import { main } from '../main.ts'
import { tempFolder } from '../testing/temp-folder.ts'
import { createTestIo } from '../testing/test-io.ts'

const AGENT = 'model: { provider: demo }\ninstructions: { inline: You repeat. }\n'

async function validate(cwd: string, ...args: string[]) {
  const io = createTestIo({ cwd, clock: createSystemClock() })
  const exitCode = await main(['validate', ...args], io)
  return { exitCode, out: io.printed(), err: io.complained() }
}

describe('quarterdeck validate', () => {
  test('starts no MCP server', async () => {
    const cwd = await tempFolder()
    const server = {
      type: 'mcp',
      name: 'files',
      command: process.execPath,
      args: ['-e', `fs.writeFileSync('started', '')`],
    }
    await writeFile(join(cwd, 'a.yaml'), `name: crow\n${AGENT}tools: [${JSON.stringify(server)}]\n`)

    expect((await validate(cwd, 'a.yaml')).exitCode).toBe(0)
    expect(await readdir(cwd)).toEqual(['a.yaml'])
  })

  test('describes every agent', async () => {
    const cwd = await tempFolder()
    await mkdir(join(cwd, 'agents'))
    await writeFile(join(cwd, 'agents', 'a.yaml'), `name: crow\n${AGENT}`)
    await writeFile(join(cwd, 'agents', 'b.yaml'), `name: parrot\n${AGENT}memory: true\n`)

    expect(await validate(cwd, 'agents')).toEqual({
      exitCode: 0,
      out:
        'ok  crow: demo/demo, 0 tools, 11 characters of instructions\n' +
        'ok  parrot: demo/demo, 0 tools, memory, 11 characters of instructions\n',
      err: '',
    })
  })

  test('finds the credentials of channels where serve does', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'a.yaml'), `name: crow\n${AGENT}`)
    await writeFile(join(cwd, 'quarterdeck.yaml'), 'webhooks: [{ name: pager, url: "https://example.com/hook" }]\n')
    const env = { WEBHOOK_SECRET: `whsec_${Buffer.from('a secret of at least 24 bytes').toString('base64')}` }
    const io = createTestIo({ cwd, env, clock: createSystemClock() })

    expect(await main(['validate', 'a.yaml'], io)).toBe(0)
    expect(io.complained()).toBe('')
  })

  test('says which skills were found, and what is odd about them', async () => {
    const cwd = await tempFolder()
    await mkdir(join(cwd, 'skills', 'letters'), { recursive: true })
    const skill = '---\nname: letter\ndescription: Writes letters.\n---\nBe polite.\n'
    await writeFile(join(cwd, 'skills', 'letters', 'SKILL.md'), skill)
    await writeFile(join(cwd, 'skills', 'letters', 'form.md'), 'x'.repeat(2_000))
    await writeFile(join(cwd, 'agent.yaml'), `name: crow\n${AGENT}skills: ./skills\n`)

    const { exitCode, out, err } = await validate(cwd)
    expect([exitCode, out.split('\n').slice(1), err]).toEqual([
      0,
      ['      skill letter: SKILL.md and 1 file, 3 kB', ''],
      expect.stringMatching(
        /^warning: .*agent\.yaml:4:9 skills: .*SKILL\.md:2:7 name: its folder has another name: letters\.\n$/,
      ),
    ])
    expect(JSON.parse((await validate(cwd, '--json')).out).agents[0].skills).toEqual([
      { name: 'letter', files: 1, bytes: 2_000 + skill.length },
    ])
  })

  test('marks sub-agents', async () => {
    const cwd = await tempFolder()
    const tools = 'tools: [{ type: agent, name: ask, agent: b.yaml }, { type: mcp, name: files, command: x }]\n'
    await writeFile(join(cwd, 'a.yaml'), `name: crow\n${AGENT}${tools}`)
    await writeFile(join(cwd, 'b.yaml'), `name: parrot\ndescription: Repeats everything.\n${AGENT}`)

    expect((await validate(cwd, 'a.yaml')).out).toBe(
      'ok  crow: demo/demo, 1 tool, 1 MCP server, 11 characters of instructions\n' +
        'ok  parrot (sub-agent): demo/demo, 0 tools, 11 characters of instructions\n',
    )
  })

  test('names file, line and column of all mistakes in agents and settings', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'agent.yaml'), `name: crow\ncolour: black\n${AGENT}`)
    await writeFile(join(cwd, 'quarterdeck.yaml'), 'port: 8000\nprot: 1\n')

    expect(await validate(cwd)).toEqual({
      exitCode: 2,
      out: '',
      err: expect.stringMatching(
        /quarterdeck\.yaml:2:1 prot: unknown key\. Did you mean port\?\n.+agent\.yaml:2:1 colour: unknown key\..*\n\n2 problems\n$/,
      ),
    })
  })

  test('names every agent file with conditions that change nothing', async () => {
    const cwd = await tempFolder()
    await mkdir(join(cwd, 'agents'))
    const tool = (approval: string) =>
      `tools: [{ type: mcp, name: notes, url: "https://x.example", approval: ${approval} }]\n`
    await writeFile(join(cwd, 'agents', 'a.yaml'), `name: crow\n${AGENT}${tool('{ when: { path: "*.env" } }')}`)
    await writeFile(join(cwd, 'agents', 'b.yaml'), `name: parrot\n${AGENT}${tool('{ when: { path: "*.env" } }')}`)
    await writeFile(
      join(cwd, 'agents', 'c.yaml'),
      `name: wren\n${AGENT}${tool('{ when: { path: "*.env" }, otherwise: run }')}`,
    )

    const { exitCode, err } = await validate(cwd, 'agents')
    expect(exitCode).toBe(0)
    expect(err.trimEnd().split('\n')).toEqual([
      expect.stringMatching(/^warning: .*a\.yaml:4:71 tools\[0\]\.approval: every call of notes .*otherwise: run/),
      expect.stringMatching(/^warning: .*b\.yaml:4:71 tools\[0\]\.approval: every call of notes .*otherwise: run/),
    ])
  })

  test('finds what a start would refuse, in tools, keys and certificates', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'tools.mjs'), `\nthrow new Error('no KEY')\n`)
    await writeFile(join(cwd, 'more.mjs'), 'export function lookUp() {}\n')
    const model = 'model: { provider: openai, name: gpt-5-mini }\ninstructions: Hi.\n'
    const tools = `tools:
  - { type: function, name: first, file: tools.mjs }
  - { type: function, name: look_up, file: more.mjs }
  - { type: mcp, name: notes, command: no-such-program }
`
    await writeFile(join(cwd, 'agent.yaml'), `name: crow\n${model}${tools}`)

    const bad = await validate(cwd)
    expect([bad.exitCode, bad.out, bad.err.trimEnd().split('\n')]).toEqual([
      2,
      '',
      [
        expect.stringMatching(/agent\.yaml:2:8 model: provider: openai needs a key\. Set OPENAI_API_KEY/),
        expect.stringMatching(/tools\.mjs:2 tool first: no KEY\./),
        expect.stringMatching(/agent\.yaml:6:5 tools\[1\]: .*more\.mjs tool look_up: there is no export look_up\./),
        expect.stringMatching(
          /^warning: .*agent\.yaml:7:40 tools\[2\]\.command: there is no command "no-such-program"/,
        ),
        '',
        '3 problems',
      ],
    ])
    await writeFile(join(cwd, 'agent.yaml'), `name: crow\n${AGENT}`)
    await writeFile(join(cwd, 'quarterdeck.yaml'), 'tls: { cert: gone.pem, key: gone.pem }\n')
    expect(await validate(cwd)).toMatchObject({ exitCode: 2, err: expect.stringContaining('gone.pem cannot be read') })
  })

  test('shows the lines to write for a plain function as a tool', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'tools.mjs'), 'export function look_up(city) {}\n')
    await writeFile(
      join(cwd, 'agent.yaml'),
      `name: crow\n${AGENT}tools:\n  - { type: function, name: look_up, file: tools.mjs }\n`,
    )
    const { exitCode, err } = await validate(cwd)
    expect([exitCode, err.split('\n').slice(1, -1)]).toEqual([
      2,
      [
        "    import { defineTool } from 'quarterdeck'",
        "    import { z } from 'zod'",
        "    export const look_up = defineTool({ description: 'Say here when to use it.', parameters: z.object({ city: z.string() }), run: ({ city }) => city })",
        '  or keep it and describe it in agent.yaml:',
        '    description: Say here when to use it.',
        '    parameters: { city: { type: string } }',
        '',
        '1 problem',
      ],
    ])
  })

  test('says what to do in a folder without an agent', async () => {
    expect(await validate(await tempFolder())).toEqual({
      exitCode: 2,
      out: '',
      err:
        'there is nothing to check: this folder has no agent.yaml, and the environment names no model. Create an agent with ' +
        'quarterdeck init, or name a file: quarterdeck validate path/to/agent.yaml\n\n1 problem\n',
    })
  })

  test('gives programs the same as JSON', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'agent.yaml'), `name: crow\n${AGENT}`)

    const good = await validate(cwd, '--json')
    expect([good.exitCode, JSON.parse(good.out)]).toEqual([
      0,
      {
        ok: true,
        agents: [{ name: 'crow', default: true, internal: false, model: 'demo/demo', tools: 0, skills: [] }],
        issues: [],
        warnings: [],
      },
    ])
    const bad = await validate(cwd, 'nowhere.yaml', '--json')
    expect([bad.exitCode, JSON.parse(bad.out)]).toEqual([
      2,
      {
        ok: false,
        agents: [],
        issues: [expect.objectContaining({ file: join(cwd, 'nowhere.yaml'), message: expect.any(String) })],
        warnings: [],
      },
    ])
  })

  test('reads the settings file from --config', async () => {
    const cwd = await tempFolder()
    await writeFile(join(cwd, 'other.yaml'), 'port: none\n')

    expect(await validate(cwd, '--config', 'other.yaml')).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('other.yaml:1:7 port:'),
    })
  })
})

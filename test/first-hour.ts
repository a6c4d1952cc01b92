// The commands of the README and those that the program prints, run as a newcomer does: at a terminal, from an empty home folder.

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import { openTerminal } from './terminal.ts'

export interface Place {
  /** Where commands are typed: npx finds the program there. */
  cwd: string
  /** An empty folder for everything else. */
  folder: string
  /** The Node that npm runs on. */
  node: string
  /** Starts a server. */
  start: string
}

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')

/** Blocks of the README in a language, such as `yaml`. */
const blocks = (language: string): string[] =>
  [...readme.matchAll(/^```([^\n]*)\n([\s\S]*?)^```$/gm)].flatMap(([, mark, text = '']) =>
    mark?.split(' ')[0] === language ? [text] : [],
  )

/** The lines of the README that call the program, without their remarks. */
const readmeCommands = blocks('')
  .flatMap((block) => block.split('\n'))
  .filter((line) => line.startsWith('quarterdeck '))
  .map((line) => line.replace(/ +#.*$/, ''))

export async function firstHour({ cwd, folder, node, start }: Place): Promise<void> {
  const [home, bin] = [join(folder, 'home'), join(folder, 'bin')]
  for (const made of [home, bin, join(folder, 'shop')]) mkdirSync(made, { recursive: true })
  symlinkSync(node, join(bin, 'node'))
  const env = {
    ...{ PATH: `${bin}:/usr/local/bin:/usr/bin:/bin`, HOME: home, TERM: 'xterm', NO_COLOR: '1', TZ: 'UTC' },
    ...{ QUARTERDECK_PORT: '0', npm_config_update_notifier: 'false' },
  }

  /** What a command prints. It must succeed, and npm must not complain. */
  async function run(command: string, more: Record<string, string> = {}, from = cwd): Promise<string> {
    const input = { cwd: from, env: { ...env, ...more }, timeout: 120_000 }
    const { stdout, stderr } = await promisify(execFile)('sh', ['-c', `${command} </dev/null`], input).catch(
      (error: Error & { stdout?: string; stderr?: string }) =>
        expect.fail(`${command}\n${error.message}\n${error.stdout}\n${error.stderr}`),
    )
    expect(stderr).not.toMatch(/npm (warn|error)/)
    return stdout + stderr
  }
  const atTerminal = (command: string) => openTerminal(command, { cwd, env })

  const server = atTerminal(`QUARTERDECK_DATA_DIR='${join(folder, 'data')}' ${start}`)
  const banner = await server.until('Ctrl-C')
  const url = /AG-UI\s+(\S+)\//.exec(banner)?.[1] ?? ''

  // One secret to keep, and links that work once.
  const [token = '', ...otherTokens] = banner.match(/qd_[\w-]+/g) ?? []
  expect(otherTokens).toEqual([])
  server.type('\r')
  const pressed = await server.until('  Open  ')
  const signIn = async (text: string) => {
    const code = /#code=([\w-]+)/.exec(text)?.[1]
    const headers = { 'Content-Type': 'application/json', Origin: url.replace('127.0.0.1', 'localhost') }
    const body = JSON.stringify({ code, label: 'A browser' })
    const address = `${url.replace('127.0.0.1', 'localhost')}/sign-in`
    return (await fetch(address, { method: 'POST', headers, body })).status
  }
  expect([await signIn(pressed), await signIn(banner), await signIn(banner)]).toEqual([200, 200, 401])

  // Every command in the banner works as it is printed, in the folder in which it is printed.
  const lines = banner.replaceAll('\r', '')
  const printed = (verb: string) =>
    new RegExp(`: +(\\S*(?:npx quarterdeck|node \\S+|quarterdeck) ${verb}.*)`).exec(lines)
  const [chat = '', ctl = '', connect = ''] = ['chat', 'ctl', 'connect'].map((verb) => printed(verb)?.[1])
  const asOperator = { QUARTERDECK_OPERATOR_TOKEN: token }
  expect(await run(`${chat} -m 'count 3'`)).toContain('1, 2, 3.')
  const watch = openTerminal(ctl, { cwd, env: { ...env, ...asOperator } })
  await watch.until('Nothing waits')
  await watch.stop()
  expect(await run(`${connect} --workspace '${folder}/shop' --yes`, asOperator)).toContain('onnected')

  // Those of the README, with `npx` in place of the global program. A new one has to be added here.
  const project = join(folder, 'my-agent')
  const outcomes: Record<string, () => Promise<unknown>> = {
    'quarterdeck init my-agent --yes': async () => {
      const made = await run(`npx quarterdeck init '${project}' --yes`)
      const [, test = ''] = /^ {2}(.+ test) +#/m.exec(made) ?? []
      expect(await run(test, {}, project)).toContain('1 of 1 test case passed')
    },
    'quarterdeck serve': async () => {
      const own = atTerminal(`npx quarterdeck serve '${project}'`)
      expect(await own.until('Ctrl-C')).toContain('my-agent: demo/demo, 2 tools')
      await own.stop()
    },
    'quarterdeck connect claude --workspace ~/shop': () =>
      run(`npx quarterdeck connect claude --workspace '${folder}/shop' --url ${url} --yes`, asOperator),
    'quarterdeck ctl': () => run('npx quarterdeck ctl', asOperator),
  }
  expect(readmeCommands.toSorted()).toEqual(Object.keys(outcomes).toSorted())
  for (const command of readmeCommands) await outcomes[command]?.()

  // The agent and the tool as the README shows them.
  mkdirSync(join(folder, 'shown'))
  writeFileSync(join(folder, 'shown/agent.yaml'), blocks('yaml')[0] ?? '')
  writeFileSync(join(folder, 'shown/tools.ts'), blocks('ts')[0] ?? '')
  expect(await run(`npx quarterdeck validate '${folder}/shown/agent.yaml'`)).toMatch(/^ok {2}my-agent: .*1 tool/)

  expect(await server.stop()).toContain('Stopping.')
}

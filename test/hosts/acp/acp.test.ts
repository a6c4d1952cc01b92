// Each real agent, hosted by a real server over ACP: what docs/do/host-a-coding-agent.md says of it is tried here.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { folderOf, type Host, hosts, programOf } from '../hosts.ts'
import type { AcpYardOptions } from './acp-yard.ts'
import { openAcpYard } from './acp-yard.ts'

for (const host of hosts) {
  const isThere = programOf(host.acp) !== null
  if (!isThere)
    process.stdout.write(`SKIPPED: ${host.acp.name} ${host.acp.version} is not installed on this machine.\n`)
  describe.runIf(isThere)(`${host.acp.package} ${host.acp.version}`, () => tests(host))
}

/** What the model does when it is asked by this name. A command that was not run is called again: an agent that is resumed has to ask again. */
const script: AcpYardOptions['script'] = ({ name, results }, { workspace, outside, host }) => {
  const isDone = results.some((text) => text.includes('did-it'))
  switch (name) {
    case 'hello':
      return { text: 'The word is marzipan.' }
    case 'endless':
      return { text: 'I begin', isCut: true }
    case 'run':
      return isDone || results.length > 5 ? { text: 'It ran.' } : host.shell('echo one >> count.txt; echo did-it')
    case 'run once':
      return results.length === 0 ? host.shell('echo one >> count.txt; echo did-it') : { text: 'I give up.' }
    case 'flood':
      return results.length === 0
        ? host.shell('yes 0123456789 | head -c 50000000; echo did-it')
        : { text: 'It poured.' }
    case 'background':
      return results.length === 0
        ? host.shell('setsid sleep 987 > /dev/null 2>&1 & echo did-it')
        : { text: 'It sleeps.' }
    case 'outside':
      return results.length === 0 ? host.shell(`echo bad > ${outside}; echo did-it`) : { text: 'I tried.' }
    case 'write':
      return results.length === 0 ? host.write(workspace, 'notes.txt', 'proposed\n') : { text: 'Written.' }
    default:
      return undefined
  }
}

function tests(host: Host): void {
  test('is the version that the docs name', () => {
    const manifest = join(folderOf(host.acp), 'node_modules', host.acp.package, 'package.json')
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'))

    expect(version).toBe(host.acp.version)
    expect(readFileSync('docs/do/host-a-coding-agent.md', 'utf8')).toContain(` ${version} |`)
  })

  const open = (options: Partial<AcpYardOptions> = {}) => openAcpYard(host, { script, ...options })

  test('talks: the answer arrives as text, and the log has it', async () => {
    await using yard = await open()

    const said: string[] = []
    for await (const text of yard.stream('Say [[hello]].')) said.push(text)

    expect(said.join('')).toBe('The word is marzipan.')
    expect(await yard.messages()).toEqual([
      expect.objectContaining({ role: 'user', content: 'Say [[hello]].' }),
      expect.objectContaining({ role: 'assistant', content: 'The word is marzipan.' }),
    ])
    expect(yard.model.lastRequest().includes('Mind the kumquat.')).toBe(yard.host.readsInstructions)
  })

  test('asks before a command and at the end for its changes, which are written once', async () => {
    await using yard = await open()

    await yard.say('Please [[run]] it.')
    const command = await yard.decide(yard.host.shellTool, { decision: 'approve' })
    expect(yard.read('count.txt')).toBeNull()
    await yard.decide('apply_changes', { decision: 'approve' })

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect(command).toMatchObject({ kind: 'permission' })
    expect(yard.read('count.txt')).toBe('one\n')
    expect((await yard.approvals()).map(({ status }) => status)).toEqual(['consumed', 'consumed'])
  })

  test('is started by its name in a workspace of the settings, and asks as always', async () => {
    await using yard = await open({ isUnnamed: true })

    const wanted = { prompt: 'Please [[run]] it.', workspace: yard.workspace, host: host.name }
    expect(await yard.supervisor.post('/sessions', wanted)).toMatchObject({ status: 201, body: { host: host.name } })
    await yard.decide(yard.host.shellTool, { decision: 'approve' })
    await yard.decide('apply_changes', { decision: 'approve' })

    await expect.poll(() => yard.read('count.txt'), { timeout: 60_000 }).toBe('one\n')
  })

  test('hears with its next prompt why a command was refused', async () => {
    await using yard = await open()

    await yard.say('Please [[run once]].')
    await yard.decide(yard.host.shellTool, { decision: 'reject', reason: 'Not on a Friday.' })

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect(yard.model.lastRequest()).toContain('Not on a Friday.')
    expect((await yard.approvals()).map(({ status }) => status)).toEqual(['rejected'])
    expect(yard.read('count.txt')).toBeNull()
  })

  test('hears why its changes were refused, and what it leaves as it is comes again with the next message', async () => {
    await using yard = await open()

    await yard.say('Please [[write]] a note.')
    await yard.decide('apply_changes', { decision: 'reject', reason: 'Not on a Friday.' })
    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    await yard.say('Say [[hello]].')
    await yard.decide('apply_changes', { decision: 'approve' })

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect(yard.model.lastRequest()).toContain('Not on a Friday.')
    expect(yard.read('notes.txt')).toBe('proposed\n')
  })

  test('is told that a person has edited its text, which is what is written', async () => {
    await using yard = await open()

    await yard.say('Please [[write]] a note.')
    await yard.decide('apply_changes', { decision: 'approve', arguments: { edit: { 'notes.txt': 'edited\n' } } })
    await yard.rested()
    expect(yard.read('notes.txt')).toBe('edited\n')
    await yard.say('Say [[hello]].')

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect(yard.model.lastRequest()).toContain('Your operator changed your text before it was written, in: notes.txt')
  })

  test('stops in mid-answer, and answers the next message', async () => {
    await using yard = await open()

    const answer = yard.stream('Say [[endless]].')
    await answer.next()
    const [run] = await yard.runs()
    await yard.supervisor.post(`/runs/${run?.run_id}/cancel`, {})

    expect(await yard.rested()).toMatchObject({ status: 'cancelled' })
    await yard.say('Say [[hello]].')
    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect((await yard.messages()).at(-1)).toMatchObject({ content: 'The word is marzipan.' })
  })

  test('goes on after kill -9 of the server: what was decided is not asked again, and it knows what was said', async () => {
    await using yard = await open()

    await yard.say('Please [[run]] it.')
    await yard.supervisor.question()
    await yard.supervisor.kill()
    await expect.poll(yard.processes, { timeout: 10_000 }).toEqual([])
    await yard.restart()
    await yard.decide(yard.host.shellTool, { decision: 'approve' })
    if (!yard.host.tellsCommand) await yard.decide(yard.host.shellTool, { decision: 'approve' })
    await yard.decide('apply_changes', { decision: 'approve' })

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect(yard.read('count.txt')).toBe('one\n')
    const used = (await yard.approvals()).filter(({ status }) => status === 'consumed')
    expect(used.map(({ tool }) => tool).toSorted()).toEqual(['apply_changes', yard.host.shellTool].toSorted())
    await yard.say('Say [[hello]].')
    await yard.rested()
    expect(yard.model.lastRequest()).toContain('Please [[run]] it.')
    // A host that cannot go on in the same conversation is told what was said.
    const isTold = yard.model.lastRequest().includes('The program that had this conversation is gone')
    if (yard.host.isResumed !== null) expect(isTold).toBe(!yard.host.isResumed)
  })

  test('has its changes written once, although the server was killed while a person looked at them', async () => {
    await using yard = await open()

    await yard.say('Please [[run]] it.')
    await yard.decide(yard.host.shellTool, { decision: 'approve' })
    await yard.supervisor.question()
    await yard.supervisor.kill()
    await yard.restart()
    await yard.decide('apply_changes', { decision: 'approve' })

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect(yard.read('count.txt')).toBe('one\n')
    expect((await yard.approvals()).map(({ status }) => status)).toEqual(['consumed', 'consumed'])
  })

  test('goes on after kill -9 of its own process, in mid-answer and while a person is asked', async () => {
    await using yard = await open()

    const answer = yard.stream('Say [[endless]].')
    await answer.next()
    await yard.killAgent()
    await expect(answer.next()).rejects.toThrow('host_failed')
    expect(await yard.rested()).toMatchObject({ status: 'failed', error: { code: 'host_failed' } })
    await yard.say('Please [[run]] it.')
    await yard.supervisor.question()
    await yard.killAgent()
    await yard.decide(yard.host.shellTool, { decision: 'approve' })
    if (!yard.host.tellsCommand) await yard.decide(yard.host.shellTool, { decision: 'approve' })
    await yard.decide('apply_changes', { decision: 'approve' })

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect(yard.read('count.txt')).toBe('one\n')
    const used = (await yard.approvals()).filter(({ status }) => status === 'consumed')
    expect(used.map(({ tool }) => tool).toSorted()).toEqual(['apply_changes', yard.host.shellTool].toSorted())
  })

  test('cannot write outside its workspace, also after a yes', async () => {
    await using yard = await open()

    await yard.say('Please write [[outside]].')
    await yard.decide(yard.host.shellTool, { decision: 'approve' })

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect(yard.readOutside()).toBeNull()
    expect(yard.model.results).toEqual([expect.stringMatching(/Read-only file system/)])
  })

  test('writes only in its own copy what it writes without asking', async () => {
    await using yard = await open({ isFearless: true })

    await yard.say(`Please [[${yard.host.fearless.prompt}]].`)
    await expect.poll(async () => (await yard.approvals()).length, { timeout: 90_000 }).toBe(1)
    expect(yard.read('count.txt')).toBeNull()
    const changes = await yard.decide('apply_changes', { decision: 'approve' })

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    expect(changes).toMatchObject({ kind: 'changes' })
    expect(yard.read('count.txt')).toBe('one\n')
  })

  test('runs a command that writes 50 MB, and the session goes on in little space', async () => {
    await using yard = await open()

    await yard.say('Let it [[flood]].')
    await yard.decide(yard.host.shellTool, { decision: 'approve' })

    expect(await yard.rested()).toMatchObject({ status: 'completed' })
    const messages = await yard.messages()
    expect(messages.at(-1)?.content).toContain('It poured.')
    expect(JSON.stringify(messages).length).toBeLessThan(1_000_000)
  })

  test('leaves no process behind, not even one that its command has put aside', async () => {
    await using yard = await open()

    await yard.say('Please begin in the [[background]].')
    await yard.decide(yard.host.shellTool, { decision: 'approve' })
    await yard.rested()
    expect(yard.processes().length).toBeGreaterThan(0)
    await yard.supervisor.stop()

    expect(yard.processes()).toEqual([])
  })

  test('asks also after a message that would tell it to ask nobody', async () => {
    await using yard = await open()

    for (const text of ['/allow-all', '/yolo']) {
      await yard.say(text)
      await yard.rested()
    }
    await yard.say('Please [[run]] it.')

    expect(await yard.supervisor.question()).toMatchObject({ tool: yard.host.shellTool })
  })
}

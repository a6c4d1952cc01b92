import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createQuarterdeck } from '../app/create-quarterdeck.ts'
import { silentLogger } from '../domain/logger.ts'
import { createClient } from './client.ts'

test('what an agent file with memory: true keeps is listed, corrected, told and forgotten', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-memories-'))
  const call = { when: 'I like tea', parts: [{ tool_call: { name: 'remember', arguments: { fact: 'Likes tea.' } } }] }
  const answers = [call, { parts: [{ text: 'Noted.' }] }]
  writeFileSync(join(folder, 'script.json'), JSON.stringify({ answers, loop: true }))
  writeFileSync(
    join(folder, 'agent.yaml'),
    'name: clerk\nmodel: { provider: scripted, script: ./script.json }\ninstructions: Help.\nmemory: true\n',
  )
  const quarterdeck = createQuarterdeck({
    agent: folder,
    env: { QUARTERDECK_CONFIG_DIR: join(folder, 'config') },
    settings: { port: 0, 'auth.operator_token': 'the-token-of-the-operator' },
    log: silentLogger,
  })
  onTestFinished(async () => {
    await quarterdeck.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const { url } = await quarterdeck.listen()
  const user = createClient({ url })
  const operator = createClient({ url, token: 'the-token-of-the-operator' })
  const texts = async () => (await user.memories.list()).memories.map(({ text }) => text)

  await user.chat('clerk', 'I like tea')
  const [memory] = (await operator.memories.list({ owner: '*', agent: 'clerk' })).memories
  const id = memory?.memory_id ?? ''
  expect(memory).toMatchObject({ owner: 'local_user', agent: 'clerk', text: 'Likes tea.' })
  expect(await user.memories.correct(id, 'Likes green tea.')).toMatchObject({ memory_id: id, text: 'Likes green tea.' })
  expect(await texts()).toEqual(['Likes green tea.'])
  await user.memories.forget(id)
  expect(await texts()).toEqual([])
  await user.chat('clerk', 'I like tea')
  expect(await operator.memories.forgetAll({ owner: 'local_user' })).toBe(1)
  expect(await user.memories.list()).toEqual({ memories: [], complete: true })
  await user.chat('clerk', 'I like tea')
  expect(await operator.users.erase('local_user')).toMatchObject({ user: 'local_user', sessions: 3, memories: 1 })
  await expect(user.users.erase('local_user')).rejects.toMatchObject({ status: 401 })
})

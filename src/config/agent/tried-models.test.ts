import { expect, test } from 'vitest'
import { agentDefaults } from '../source/load-context.ts'
import { createMemoryFiles } from '../testing/memory-files.ts'
import { loadAgent } from './load-agents.ts'

function tried(tryModels: string[]) {
  const model =
    'provider: openai, name: x, base_url: "http://127.0.0.1:8080/v1", temperature: 0.5, prices: { input: 1, output: 2 }'
  const yaml = `name: a\nmodel: { ${model} }\ninstructions: Be kind.`
  const files = createMemoryFiles({ '/a/agent.yaml': yaml })
  const env = { OPENAI_API_KEY: 'one', ANTHROPIC_API_KEY: 'two' }
  return loadAgent('/a/agent.yaml', { env, files, defaults: { ...agentDefaults, tryModels } }).tried
}

test('a model of the same provider is asked as the file says, one of another with its own key, and the agent’s own is left out', () => {
  expect(tried(['openai/x', 'openai/org/y', 'anthropic/z'])).toEqual([
    expect.objectContaining({
      provider: 'openai',
      name: 'org/y',
      baseUrl: 'http://127.0.0.1:8080/v1',
      temperature: 0.5,
      apiKey: 'one',
    }),
    expect.objectContaining({ provider: 'anthropic', name: 'z', apiKey: 'two' }),
  ])
  expect(tried(['openai/y'])?.[0]).not.toHaveProperty('prices')
  expect(tried(['openai/x'])).toBe(undefined)
})

test.each(['nobody/x', 'ai-sdk/x'])('%s stops the start, and says where it stands', (name) => {
  expect(() => tried([name])).toThrow(`${name} under try_models`)
})

import { describe, expect, test } from 'vitest'
import type { Environment } from '../source/env-file.ts'
import { agentFromEnvironment } from './agent-from-environment.ts'

const agent = (env: Environment) => agentFromEnvironment(env, { directory: '/here' })

const model = (env: Environment) => {
  const { provider, name, apiKey, baseUrl } = agent(env).model ?? {}
  return { provider, name, ...(apiKey === undefined ? {} : { apiKey }), ...(baseUrl === undefined ? {} : { baseUrl }) }
}

describe('a start without an agent file', () => {
  test('is the demo agent when nothing is set', () => {
    expect(agent({ PATH: '/bin', OPENAI_API_KEY: '', LLM_PROVIDER: ' ' })).toEqual({
      name: 'assistant',
      description: 'The built-in demonstration agent.',
      directory: '/here',
      default: true,
      internal: false,
      instructions: 'You are a helpful assistant. Answer clearly and briefly.',
      model: {
        provider: 'demo',
        name: 'demo',
        contextWindow: 128_000,
        retries: 2,
        connectTimeoutMs: 10_000,
        firstTokenTimeoutMs: 120_000,
        tokenTimeoutMs: 60_000,
      },
      tools: [],
      host: null,
      responseFormat: null,
      limits: {
        steps: 25,
        tokens: null,
        durationMs: 900_000,
        cost: null,
        toolCalls: 100,
        identicalCalls: 3,
        parallelCalls: 8,
        toolResultChars: 50_000,
        answerChars: 1_000_000,
        storedMessageChars: 100_000,
      },
      context: { maxMessages: 200, mode: 'window' },
      sessions: { ttlSeconds: 1800, onExpiry: 'continue', retentionDays: 30, onBusy: null },
      approval: { default: { ask: 'risk', atLeast: 'high' }, policy: [], by: 'operator', expiresSeconds: 3600 },
      testCases: [],
      judge: null,
      summarizer: null,
    })
  })

  test.each<[Environment, object]>([
    [{ OPENAI_API_KEY: 'o' }, { provider: 'openai', name: 'gpt-5-mini', apiKey: 'o' }],
    [{ ANTHROPIC_API_KEY: 'a' }, { provider: 'anthropic', name: 'claude-sonnet-4-5', apiKey: 'a' }],
    [{ GOOGLE_API_KEY: 'g' }, { provider: 'google', name: 'gemini-2.5-flash', apiKey: 'g' }],
    [
      { GOOGLE_API_KEY: 'g', GEMINI_MODEL: 'pro' },
      { provider: 'google', name: 'pro', apiKey: 'g' },
    ],
    [
      { GEMINI_API_KEY: 'g', GEMINI_MODEL: 'pro', LLM_MODEL: 'flash' },
      { provider: 'google', name: 'flash', apiKey: 'g' },
    ],
    [
      { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', LLM_MODEL: 'm' },
      { provider: 'openai', name: 'm', apiKey: 'o' },
    ],
    [
      { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', LLM_PROVIDER: 'Anthropic' },
      { provider: 'anthropic', name: 'claude-sonnet-4-5', apiKey: 'a' },
    ],
    [
      { LLM_PROVIDER: 'gemini', GOOGLE_API_KEY: 'g' },
      { provider: 'google', name: 'gemini-2.5-flash', apiKey: 'g' },
    ],
    [{ LLM_PROVIDER: 'openai' }, { provider: 'openai', name: 'gpt-5-mini' }],
    [
      { LLM_PROVIDER: 'demo', LLM_MODEL: 'gpt', OPENAI_API_KEY: 'o' },
      { provider: 'demo', name: 'demo' },
    ],
    [
      { LLM_PROVIDER: 'ollama', LLM_MODEL: 'llama3.2' },
      { provider: 'ollama', name: 'llama3.2' },
    ],
    [
      { AZURE_OPENAI_API_KEY: 'z', AZURE_OPENAI_ENDPOINT: 'https://r', AZURE_OPENAI_DEPLOYMENT: 'd' },
      { provider: 'azure', name: 'd', apiKey: 'z', baseUrl: 'https://r' },
    ],
    [
      {
        LLM_PROVIDER: 'azure_openai',
        OPENAI_API_KEY: 'o',
        AZURE_OPENAI_API_KEY: 'z',
        AZURE_OPENAI_ENDPOINT: 'https://r',
        AZURE_OPENAI_DEPLOYMENT_NAME: 'd',
        AZURE_OPENAI_API_VERSION: '1',
      },
      { provider: 'azure', name: 'd', apiKey: 'z', baseUrl: 'https://r/?api-version=1' },
    ],
  ])('%j gives %j', (env, expected) => {
    expect(model(env)).toEqual(expected)
  })

  test.each<[Environment, string]>([
    [
      { LLM_PROVIDER: 'opnai' },
      'LLM_PROVIDER: expected one of demo, openai, anthropic, google, azure, gemini, azure_openai, ollama, found "opnai". Did you mean openai?',
    ],
    [
      { LLM_PROVIDER: 'scripted' },
      'LLM_PROVIDER: expected one of demo, openai, anthropic, google, azure, gemini, azure_openai, ollama, found "scripted". Other providers need an agent file.',
    ],
    [
      { LLM_MODEL: 'gpt' },
      'LLM_MODEL: this names a model, but no provider is set. Set LLM_PROVIDER (e.g. openai) and its key.',
    ],
    [{ LLM_PROVIDER: 'ollama' }, 'LLM_MODEL: provider ollama needs the name of a model. Set e.g. LLM_MODEL=llama3.2'],
    [
      { AZURE_OPENAI_API_KEY: 'z', AZURE_OPENAI_ENDPOINT: 'https://r' },
      'LLM_MODEL or AZURE_OPENAI_DEPLOYMENT or AZURE_OPENAI_DEPLOYMENT_NAME: provider azure needs the name of a model. Set e.g. LLM_MODEL=my-deployment',
    ],
    [
      { AZURE_OPENAI_API_KEY: 'z', LLM_MODEL: 'd' },
      'AZURE_OPENAI_ENDPOINT: provider azure needs its endpoint. Set AZURE_OPENAI_ENDPOINT=https://my-resource.openai.azure.com or write base_url: https://my-resource.openai.azure.com',
    ],
  ])('%j is refused', (env, message) => {
    expect(() => agent(env)).toThrow(expect.objectContaining({ code: 'config_invalid', message }))
  })

  test('takes the server’s defaults', () => {
    const defaults = {
      maxMessages: 1,
      ttlSeconds: 2,
      retentionDays: 3,
      toolTimeoutMs: 4,
      tryModels: [],
      knowledgeFolders: [],
    }
    const { context, sessions } = agentFromEnvironment({}, { directory: '/here', defaults })
    expect([context.maxMessages, sessions.ttlSeconds, sessions.retentionDays]).toEqual([1, 2, 3])
  })
})

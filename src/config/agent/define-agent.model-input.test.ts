import { describe, expect, test } from 'vitest'
import { createMemoryFiles } from '../testing/memory-files.ts'
import { loadAgent } from './load-agents.ts'

const modelOf = (model: string) => {
  const yaml = `name: a\nmodel: { ${model} }\ninstructions: Be kind.`
  const env = { AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com' }
  return loadAgent('/a/agent.yaml', { env, files: createMemoryFiles({ '/a/agent.yaml': yaml, '/a/s.yaml': '' }) }).model
}

const all = ['text', 'image', 'pdf']

describe('the input of a model', () => {
  test.each<[model: string, input: string[] | undefined]>([
    ['provider: openai, name: x', all],
    ['provider: openai, name: x, base_url: "https://eu.api.openai.com/v1"', all],
    ['provider: openai, name: x, base_url: "https://api.openai.com.evil.example/v1"', undefined],
    ['provider: openai, name: x, base_url: "http://127.0.0.1:8080/v1"', undefined],
    ['provider: anthropic, name: x', all],
    ['provider: anthropic, name: x, base_url: "https://proxy.example"', undefined],
    ['provider: google, name: x', all],
    ['provider: gemini, name: x', all],
    ['provider: azure, name: x', ['text', 'image']],
    ['provider: azure, name: x, base_url: "https://gateway.example"', undefined],
    ['provider: ollama, name: x', undefined],
    ['provider: ai-sdk, name: x, package: y', undefined],
    ['provider: scripted, script: s.yaml', undefined],
    ['provider: demo', undefined],
    ['provider: demo, input: [pdf, image, image]', all],
    ['provider: ollama, name: x, input: [image]', ['text', 'image']],
    ['provider: openai, name: x, input: [text]', undefined],
    ['provider: openai, name: x, input: []', undefined],
  ])('{ %s }: %j', (model, input) => {
    expect(modelOf(model)?.input).toEqual(input)
  })

  test('is set separately for a fallback', () => {
    const { input, fallback } = modelOf('provider: openai, name: x, fallback: { provider: demo, input: [image] }') ?? {}
    expect([input, fallback?.input]).toEqual([all, ['text', 'image']])
  })

  test('must be text, image or pdf', () => {
    expect(() => modelOf('provider: demo, input: [video]')).toThrow(/expected one of text, image, pdf, found "video"/)
  })
})

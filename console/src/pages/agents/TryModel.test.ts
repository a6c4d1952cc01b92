import { expect, test } from 'vitest'
import { figureLine } from './AgentFigures.tsx'
import { modelLines } from './TryModel.tsx'

test('only the lines that change are shown, and a name cannot become other YAML', () => {
  expect(modelLines('openai/gpt-5', 'openai')).toBe('model:\n  name: gpt-5\n')
  expect(modelLines('ollama/org/llama: 3', 'openai')).toBe('model:\n  provider: ollama\n  name: "org/llama: 3"\n')
})

test('the figures of an agent fit into a line, also if no run ended well', () => {
  const tokens = {
    input_tokens: 1,
    output_tokens: 1,
    cached_input_tokens: 0,
    cache_write_input_tokens: 0,
    reasoning_tokens: 0,
  }
  const counts = { runs: 40, failed_runs: 1, cancelled_runs: 0, p50_ms: 4_200, p95_ms: 9_100, cost: 0.25, ...tokens }
  expect(figureLine(counts, 'USD')).toBe('40 runs · 2.5 % errors · half within 4.2 s, 95 % within 9.1 s · $0.25')
  expect(figureLine({ ...counts, runs: 1, p50_ms: null, p95_ms: null, cost: null }, 'USD')).toBe(
    '1 run · 100 % errors · –',
  )
})

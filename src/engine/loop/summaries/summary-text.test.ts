import { describe, expect, test } from 'vitest'
import type { StoredMessage } from '../../../domain/session/message.ts'
import {
  inPieces,
  materialOf,
  NO_WORDS,
  type SummaryWords,
  summaryPrompt,
  summaryText,
  wordsAfter,
} from './summary-text.ts'

const before: SummaryWords = {
  instructions: ['Answer in French.'],
  facts: ['The Anna has 12 tons.', 'Ann is the owner.'],
  decisions: ['Sail on Monday.'],
  tasks: ['Call the harbour.'],
  story: 'They planned a trip.',
}

describe('what a model has written', () => {
  test('adds to the lines that are kept, strikes out by number, and tells the story anew', () => {
    const answer = [
      '# Standing instructions of the user',
      '- Never write after ten.',
      '# Facts, names and numbers',
      '* The Anna has 14 tons.',
      '- Ann is the owner.',
      '# Decisions',
      'None.',
      '# Open tasks',
      '# Strike out',
      '2, 5: done and corrected',
      '# Story',
      'They planned a trip, and called the harbour.',
    ].join('\n')

    expect(wordsAfter(before, answer, 1_000)).toEqual({
      instructions: ['Answer in French.', 'Never write after ten.'],
      facts: ['Ann is the owner.', 'The Anna has 14 tons.'],
      decisions: ['Sail on Monday.'],
      tasks: [],
      story: 'They planned a trip, and called the harbour.',
    })
  })

  test.each([
    ['no headings', 'They sailed.', { ...before, story: 'They sailed.' }],
    [
      'bold headings',
      '**Facts**\n- New.\n**Story:**\nShort.',
      { ...before, facts: [...before.facts, 'New.'], story: 'Short.' },
    ],
    ['no story', '## Facts\n1. New.', { ...before, facts: [...before.facts, 'New.'] }],
    ['nothing', ' \n', null],
  ])('may have %s', (_, answer, expected) => {
    expect(wordsAfter(before, answer, 1_000)).toEqual(expected)
  })

  test('loses no standing instruction when it is too long: first the story, then the oldest of the longest list', () => {
    const facts = Array.from({ length: 50 }, (_, i) => `Fact ${i} is this.`)
    const words = wordsAfter({ ...before, facts }, `# Story\n${'It went on. '.repeat(200)}`, 200)

    expect(words?.instructions).toEqual(before.instructions)
    expect(words?.facts.at(-1)).toBe('Fact 49 is this.')
    expect(words?.facts).not.toContain('Fact 0 is this.')
    expect(words?.story).toMatch(/^… It went on\./)
    expect(summaryText({ ...(words ?? NO_WORDS), messages: 3 }, null).length).toBeLessThan(1_200)
  })

  test('is one line for each item, whatever is in it', () => {
    const words = wordsAfter(NO_WORDS, `# Facts\n- ${'x'.repeat(5_000)}\n# Story\nA.`, 5_000)
    expect(words?.facts).toEqual(['x'.repeat(300)])
  })
})

test('a model is asked with numbered lines, and with the messages, of which results of tools are shortened most', () => {
  const base = { runId: 'r', createdAt: 1 }
  const messages: StoredMessage[] = [
    { ...base, id: 'u', role: 'user', content: 'y'.repeat(5_000) },
    {
      ...{ ...base, id: 'a', role: 'assistant', content: '' },
      toolCalls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"at":"sea"}' } }],
    },
    { ...base, id: 't', role: 'tool', toolCallId: 'c', content: 'z'.repeat(5_000) },
    { ...base, id: 'b', role: 'assistant', content: 'half an', brokenOff: true },
  ]
  const material = materialOf(messages)

  expect(material.map((line) => line.length)).toEqual([
    5_006,
    'Agent calls look: {"at":"sea"}'.length,
    expect.any(Number),
  ])
  expect(material[2]?.length).toBeLessThan(700)
  expect(summaryPrompt(before, 'User: Hello')).toContain(
    '# Facts, names and numbers\n2. The Anna has 12 tons.\n3. Ann is the owner.',
  )
  expect(inPieces(['a'.repeat(400), 'b'.repeat(400), 'c'.repeat(400)], 210).length).toBe(2)
})

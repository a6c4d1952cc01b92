import { expect, test } from 'vitest'
import { areBlocksTooLong, checkBlocks } from './check-blocks.ts'

const x = (length: number) => 'x'.repeat(length)
const plain = (text: string) => ({ type: 'plain_text', text })
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text })
const section = (length: number) => ({ type: 'section', text: mrkdwn(x(length)) })
const button = (more: object = {}) => ({ type: 'button', text: plain('Go'), action_id: 'go', ...more })
const actions = (...elements: object[]) => ({ type: 'actions', elements })
const confirm = (more: object = {}) => ({
  title: plain('Sure?'),
  text: mrkdwn('It is critical.'),
  confirm: plain('Yes'),
  deny: plain('No'),
  ...more,
})

test('blocks that use each limit to the full are taken', () => {
  const full = [
    { type: 'header', text: plain(x(150)), block_id: x(255) },
    section(3_000),
    { type: 'section', fields: Array.from({ length: 10 }, () => mrkdwn('field')), accessory: button() },
    { type: 'context', elements: Array.from({ length: 10 }, () => plain('note')) },
    { type: 'divider' },
    actions(
      button({ text: plain(x(75)), value: x(2_000), action_id: x(255), url: `https://example.org/${x(2_980)}` }),
      ...Array.from({ length: 24 }, (_, i) => button({ action_id: `go ${i}` })),
    ),
    actions(
      button({
        confirm: confirm({ title: plain(x(100)), text: plain(x(300)), confirm: plain(x(30)), deny: plain(x(30)) }),
      }),
    ),
    {
      type: 'rich_text',
      elements: [
        { type: 'rich_text_section', elements: [{ type: 'text', text: 'a', style: { bold: true } }] },
        { type: 'rich_text_preformatted', elements: [{ type: 'text', text: '<!channel>' }], border: 0 },
      ],
    },
  ]
  expect(checkBlocks(full)).toEqual([])
  expect(checkBlocks(Array.from({ length: 50 }, () => ({ type: 'divider' })))).toEqual([])
})

test.each<[string, object[], string[]]>([
  [
    'too many blocks',
    Array.from({ length: 51 }, () => ({ type: 'divider' })),
    ['no more than 50 items allowed [json-pointer:/blocks]'],
  ],
  [
    'a header that is too long',
    [{ type: 'header', text: plain(x(151)) }],
    ['must be less than 151 characters [json-pointer:/blocks/0/text/text]'],
  ],
  [
    'a header with markup',
    [{ type: 'header', text: mrkdwn('*x*') }],
    ['must be one of: plain_text [json-pointer:/blocks/0/text/type]'],
  ],
  [
    'a field that is too long',
    [{ type: 'divider' }, { type: 'section', fields: [mrkdwn(x(2_001))] }],
    [
      'failed to match all allowed schemas [json-pointer:/blocks/1/fields/0]',
      'must be less than 2001 characters [json-pointer:/blocks/1/fields/0/text]',
    ],
  ],
  [
    'empty text',
    [section(0)],
    [
      'failed to match all allowed schemas [json-pointer:/blocks/0/text]',
      'must be more than 0 characters [json-pointer:/blocks/0/text/text]',
    ],
  ],
  ['a section without text', [{ type: 'section' }], ['missing required field: text [json-pointer:/blocks/0]']],
  [
    'too much context',
    [{ type: 'context', elements: Array.from({ length: 11 }, () => plain('x')) }],
    ['no more than 10 items allowed [json-pointer:/blocks/0/elements]'],
  ],
  [
    'too many buttons',
    [actions(...Array.from({ length: 26 }, (_, i) => button({ action_id: `${i}` })))],
    ['no more than 25 items allowed [json-pointer:/blocks/0/elements]'],
  ],
  [
    'a button whose parts are too long',
    [actions(button({ text: plain(x(76)), value: x(2_001), action_id: x(256), url: `https://e.org/${x(3_000)}` }))],
    [
      'must be less than 76 characters [json-pointer:/blocks/0/elements/0/text/text]',
      'must be less than 256 characters [json-pointer:/blocks/0/elements/0/action_id]',
      'must be less than 2001 characters [json-pointer:/blocks/0/elements/0/value]',
      'must be less than 3001 characters [json-pointer:/blocks/0/elements/0/url]',
    ],
  ],
  [
    'a confirmation that is too long',
    [actions(button({ confirm: confirm({ title: plain(x(101)), deny: plain(x(31)) }) }))],
    [
      'must be less than 101 characters [json-pointer:/blocks/0/elements/0/confirm/title/text]',
      'must be less than 31 characters [json-pointer:/blocks/0/elements/0/confirm/deny/text]',
    ],
  ],
  [
    'two buttons with the same action',
    [actions(button(), button())],
    ['`action_id` "go" already exists [json-pointer:/blocks/0/elements/1/action_id]'],
  ],
  [
    'two blocks with the same id',
    [
      { type: 'divider', block_id: 'a' },
      { type: 'divider', block_id: 'a' },
    ],
    ['`block_id` "a" already exists [json-pointer:/blocks/1/block_id]'],
  ],
  [
    'a property that Slack does not know',
    [actions(button({ disabled: true }))],
    ['invalid additional property: disabled [json-pointer:/blocks/0/elements/0]'],
  ],
  ['a block of a modal', [{ type: 'input' }], ['unsupported type: input [json-pointer:/blocks/0/type]']],
])('Slack refuses %s', (_, blocks, errors) => {
  expect(checkBlocks(blocks)).toEqual(errors)
})

test('the text of all blocks together has a limit', () => {
  expect(areBlocksTooLong([section(3_000), section(3_000), section(3_000), section(3_000), section(1_000)])).toBe(false)
  expect(areBlocksTooLong([section(3_000), section(3_000), section(3_000), section(3_000), section(1_001)])).toBe(true)
})

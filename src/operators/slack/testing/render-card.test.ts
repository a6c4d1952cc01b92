import { expect, test } from 'vitest'
import { mrkdwn, renderCard, renderCards } from './render-card.ts'

const ping = (name: string) => `<strong class="mention">PINGS @${name}</strong>`

test.each<[string, string]>([
  ['*bold* _italic_ ~gone~ `code`', '<b>bold</b> <i>italic</i> <s>gone</s> <code>code</code>'],
  ['a*b*c 2 * 3 * 4 snake_case_name', 'a*b*c 2 * 3 * 4 snake_case_name'],
  ['*bold with _italic_*', '<b>bold with <i>italic</i></b>'],
  ['```\nlet *a* = `b`\n```', '<pre>let *a* = `b`</pre>'],
  ['`*not bold*`', '<code>*not bold*</code>'],
  ['> one\n> two\nthree', '<blockquote>one\ntwo</blockquote>three'],
  ['&gt; typed', '<blockquote>typed</blockquote>'],
  [':warning: at 10:30:00 :unheard_of:', '⚠️ at 10:30:00 <span class="emoji">:unheard_of:</span>'],
  [
    '<https://example.org/?a=1&amp;b=2|here>',
    '<span class="link">here</span><span class="target"> → https://example.org/?a=1&amp;b=2</span>',
  ],
  ['<https://example.org>', '<span class="link">https://example.org</span>'],
])('markup looks as in Slack: %j', (text, html) => {
  expect(mrkdwn(text, false)).toBe(html)
})

test.each<[string, string]>([
  ['<!channel>', ping('channel')],
  ['<!here|here> and <@U0ANA>', `${ping('here')} and ${ping('U0ANA')}`],
  ['```<!everyone>```', `<pre>${ping('everyone')}</pre>`],
  ['`<@U0ANA|ana>`', `<code>${ping('U0ANA')}</code>`],
  ['<!subteam^S1|@team>', ping('S1')],
])('a mention is loud, also in code: %j', (text, html) => {
  expect(mrkdwn(text, false)).toBe(html)
})

test.each<[string, string]>([
  ['&lt;!channel&gt;', '&lt;!channel&gt;'],
  ['&amp;lt;!channel&amp;gt;', '&amp;lt;!channel&amp;gt;'],
  ['a < b && c > d', 'a &lt; b &amp;&amp; c &gt; d'],
  ['<script>alert("x")</script>', '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;'],
  ['<javascript:alert(1)|click>', '&lt;javascript:alert(1)|click&gt;'],
  ['\uFDD00\uFDD0', '\uFFFD0\uFFFD'],
])('escaped and broken text stays text: %j', (text, html) => {
  expect(mrkdwn(text, false)).toBe(html)
})

test('a block that is not verbatim makes mentions and links of plain words', () => {
  expect(mrkdwn('@channel see README.md', true)).toBe(`${ping('channel')} see <span class="link">README.md</span>`)
  expect(mrkdwn('@channel see README.md', false)).toBe('@channel see README.md')
  expect(mrkdwn('`@channel` ops@here.example', true)).toBe('<code>@channel</code> ops@here.example')
})

test('every kind of block is shown', () => {
  const html = renderCard({
    text: 'notification <!here>',
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: 'Deploy *now* <!channel> :fire:' } },
      { type: 'divider' },
      {
        type: 'section',
        fields: [
          { type: 'mrkdwn', text: '*Risk*' },
          { type: 'plain_text', text: 'high' },
        ],
        accessory: { type: 'button', text: { type: 'plain_text', text: 'Open' }, url: 'https://example.org' },
      },
      { type: 'context', elements: [{ type: 'mrkdwn', text: '_by an agent_' }] },
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            text: { type: 'plain_text', text: 'Accept' },
            style: 'primary',
            confirm: {
              title: { type: 'plain_text', text: 'Sure?' },
              text: { type: 'mrkdwn', text: '*Critical*' },
              confirm: { type: 'plain_text', text: 'Yes' },
              deny: { type: 'plain_text', text: 'No' },
            },
          },
        ],
      },
      {
        type: 'rich_text',
        elements: [
          { type: 'rich_text_section', elements: [{ type: 'text', text: '<!channel> *x*', style: { bold: true } }] },
          { type: 'rich_text_preformatted', elements: [{ type: 'text', text: '-a\n+b & `c`' }] },
          { type: 'rich_text_quote', elements: [{ type: 'broadcast', range: 'channel' }] },
          {
            type: 'rich_text_list',
            style: 'bullet',
            elements: [{ type: 'rich_text_section', elements: [{ type: 'user', user_id: 'U0ANA' }] }],
          },
        ],
      },
      { type: 'video' },
    ],
    files: [{ name: 'a<b.diff', content: Buffer.from('<-x>') }],
  })
  const parts = [
    `<div class="notice">Notification: notification ${ping('here')}</div>`,
    '<h3>Deploy *now* &lt;!channel&gt; 🔥</h3>',
    '<hr>',
    '<div class="fields"><div><b>Risk</b></div><div>high</div></div></div><span class="button">Open ↗</span>',
    '<div class="context"><span><i>by an agent</i></span></div>',
    '<span class="button primary">Accept</span><div class="confirm"><b>Sure?</b><div><b>Critical</b></div>',
    '<div><b>&lt;!channel&gt; *x*</b></div>',
    '<pre>-a\n+b &amp; `c`</pre>',
    `<blockquote>${ping('channel')}</blockquote>`,
    `<ul><li><div>${ping('U0ANA')}</div></li></ul>`,
    '<div class="broken">unknown block: video</div>',
    '<div class="file"><b>a&lt;b.diff</b><pre>&lt;-x&gt;</pre></div>',
  ]
  expect(parts.filter((part) => !html.includes(part))).toEqual([])
})

test('a page shows each card under its title', () => {
  const page = renderCards([{ title: 'A & B', message: { text: '*hello*', blocks: [] } }])
  expect(page).toContain('<h2>A &amp; B</h2><article class="card">')
  expect(page).toContain('<div class="section"><div class="main"><b>hello</b></div></div>')
})

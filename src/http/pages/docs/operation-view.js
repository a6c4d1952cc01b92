// One operation: a line that can be opened, with the form and all answers inside.

import { copyButton, lazyDetails, make, pathText, prose } from './make.js'
import { isSuccess } from './read-api.js'
import { kindOf, sampleOf } from './read-schema.js'
import { schemaTree } from './schema-tree.js'
import { tryForm } from './try-form.js'
import { visibleLines } from './visible.js'

export const methodBadge = (method) => make('span', { class: `method ${method.toLowerCase()}`, text: method })

export function operationView(operation, deps) {
  const { link, method, path, summary, role, door } = operation
  const head = [
    methodBadge(method),
    make('code', { class: 'path' }, ...pathText(path)),
    make('span', { class: 'summary', text: summary }),
    make(
      'span',
      { class: 'chips' },
      role === null ? null : make('span', { class: `chip ${role}`, title: 'Who may use it', text: role }),
      door === null ? null : make('span', { class: 'chip', title: 'Its door', text: door }),
    ),
  ]
  return lazyDetails(head, () => [contentOf(operation, deps)], { class: 'operation', id: link })
}

function contentOf(operation, deps) {
  const { description, role, door, answers } = operation
  const { resolve } = deps
  const good = answers.filter(({ status }) => isSuccess(status))
  const bad = answers.filter(({ status }) => !isSuccess(status))
  const who = [role === null ? null : ROLES[role], door === null ? null : `Part of the door \`${door}\`.`].filter(
    Boolean,
  )
  return make(
    'div',
    { class: 'content' },
    description === '' ? null : make('p', {}, ...prose(description)),
    who.length === 0 ? null : make('p', { class: 'quiet' }, ...prose(who.join(' '))),
    tryForm(operation, deps),
    make('h3', { text: 'Answers' }),
    ...good.map((answer, i) => answerOf(answer, resolve, i === 0)),
    bad.length === 0 ? null : failuresOf(bad, resolve),
  )
}

const ROLES = {
  public: 'Needs no token.',
  user: 'Needs a token, unless the server lets this machine talk without one.',
  operator: 'Needs an operator’s token.',
  agent: 'Needs an agent’s token.',
}

/** There are many, and most are the same everywhere. */
const failuresOf = (answers, resolve) =>
  lazyDetails(
    [
      make('span', { text: 'Failures ' }),
      make('span', { class: 'bad', text: answers.map(({ status }) => status).join(' ') }),
    ],
    () => answers.map((answer) => answerOf(answer, resolve, false)),
    { class: 'status failures' },
  )

function answerOf({ status, description, headers, contents }, resolve, open) {
  const own = headers.filter(({ name }) => name !== 'X-Correlation-ID')
  const summary = [
    make('code', { class: isSuccess(status) ? 'good' : 'bad', text: status }),
    make('span', { text: ` ${description}` }),
  ]
  const content = () => [
    ...own.map(({ name, description: meaning = '' }) =>
      make(
        'p',
        { class: 'hint' },
        make('code', { text: name }),
        make('span', { class: 'quiet', text: ' header  ' }),
        ...prose(meaning),
      ),
    ),
    ...contents.map((one) => contentView(one, resolve)),
    ...(own.length + contents.length === 0 ? [make('p', { class: 'quiet', text: 'It has no body.' })] : []),
  ]
  return lazyDetails(summary, content, { class: 'status', open })
}

function contentView({ type, schema, examples }, resolve) {
  const given = examples.length > 0 ? examples : madeUp(type, schema, resolve)
  const shown = given.map(({ name, value }) => ({ name, text: textOf(value) }))
  const output = make('pre', { tabindex: '0', 'aria-label': `Example of ${type}` })
  const show = (index) => {
    output.textContent = visibleLines(shown[index]?.text ?? '')
  }
  show(0)
  const choice = make(
    'select',
    { 'aria-label': 'Example', on: { change: () => show(choice.selectedIndex) } },
    ...shown.map(({ name }) => make('option', { text: name })),
  )
  return make(
    'div',
    { class: 'media' },
    make('p', { class: 'row' }, make('code', { text: type }), shown.length > 1 ? choice : null),
    shown.length === 0
      ? null
      : make(
          'div',
          { class: 'copied' },
          output,
          copyButton(() => output.textContent, 'Copy the example'),
        ),
    kindOf(resolve, schema) === 'string' && resolve(schema)?.contentSchema === undefined
      ? null
      : lazyDetails(['Schema'], () => [schemaTree(resolve, schema)], { class: 'schema' }),
  )
}

/** For JSON and event streams an example can be made from the schema. */
function madeUp(type, schema, resolve) {
  if (/json/.test(type)) return [{ name: 'Made from the schema', value: sampleOf(resolve, schema) }]
  const { contentSchema } = resolve(schema) ?? {}
  if (contentSchema === undefined) return []
  return [{ name: 'Made from the schema', value: `data: ${JSON.stringify(sampleOf(resolve, contentSchema))}\n` }]
}

const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

// The page of GET /docs. It reads the OpenAPI document of its own server, with the token that the person gives it.

import { make, pathText } from './make.js'
import { methodBadge, operationView } from './operation-view.js'
import { fitsSearch, readApi } from './read-api.js'

const element = (id) => document.getElementById(id)
/** This script is in a folder below the server's address, which may have a path. */
const base = new URL('..', import.meta.url)
/** Only for this tab. */
const KEY = 'docs-token'
const token = () => sessionStorage.getItem(KEY) ?? ''

let groups = []

function show(api) {
  element('title').replaceChildren(api.title, ' ', make('span', { class: 'quiet', text: api.version }))
  document.title = `${api.title} ${api.version}`
  groups = api.groups.map((group) => {
    const operations = group.operations.map((operation) => {
      const view = operationView(operation, { resolve: api.resolve, base, token })
      view.addEventListener('toggle', () => {
        if (view.open) history.replaceState(null, '', `#${operation.link}`)
      })
      return { operation, view, entry: entryOf(operation) }
    })
    const heading = make('h2', { id: `${group.slug}/`, text: group.name })
    const section = make('section', {}, heading, ...operations.map(({ view }) => view))
    const list = make(
      'section',
      {},
      make('a', { class: 'group', href: `#${group.slug}/`, text: group.name }),
      make('ul', {}, ...operations.map(({ entry }) => entry)),
    )
    return { operations, section, list }
  })
  element('groups').replaceChildren(...groups.map(({ section }) => section))
  element('contents').replaceChildren(...groups.map(({ list }) => list))
  search()
  openLink()
}

const entryOf = ({ link, method, path, summary }) =>
  make(
    'li',
    {},
    make('a', { href: `#${link}`, title: summary }, methodBadge(method), make('span', {}, ...pathText(path))),
  )

/** Opens what the address names. A link to an operation that is open already must work too. */
function openLink() {
  const wanted = element(decodeURIComponent(location.hash.slice(1)))
  if (wanted === null || !element('groups').contains(wanted)) return
  if (wanted.localName === 'details') {
    wanted.hidden = false
    wanted.open = true
    wanted.querySelector('summary').focus({ preventScroll: true })
  }
  wanted.scrollIntoView()
}

function search() {
  const text = element('search').value
  let count = 0
  for (const { operations, section, list } of groups) {
    let here = 0
    for (const { operation, view, entry } of operations) {
      const fits = fitsSearch(operation, text)
      view.hidden = !fits
      entry.hidden = !fits
      if (fits) here += 1
    }
    section.hidden = here === 0
    list.hidden = here === 0
    count += here
  }
  tell(
    text.trim() === ''
      ? ''
      : count === 0
        ? 'No route fits this search.'
        : `${count} ${count === 1 ? 'route fits' : 'routes fit'}.`,
  )
}

function tell(text) {
  element('status').textContent = text
}

function showLogin() {
  const isGiven = token() !== ''
  element('token').value = ''
  element('token').placeholder = isGiven ? 'Token in use' : 'Token'
  element('login').querySelector('button').textContent = isGiven ? 'Change' : 'Use'
  element('login-state').textContent = ''
}

async function load() {
  tell('Loading …')
  const headers = token() === '' ? {} : { Authorization: `Bearer ${token()}` }
  const response = await fetch(new URL('openapi.json', base), { headers, cache: 'no-store' })
  // What is open stays open: another token changes what requests may do, not the routes.
  if (response.ok) return groups.length === 0 ? show(readApi(await response.json())) : search()
  const { detail = `The server answered ${response.status}.` } = await response.json().catch(() => ({}))
  if (response.status !== 401 && response.status !== 429) return tell(detail)
  element('token').focus()
  tell(
    token() === ''
      ? 'This server asks for a token before it shows its routes. Type one above. It stays in this tab.'
      : detail,
  )
}

const loadAndTell = () => load().catch((error) => tell(`The server cannot be reached: ${error.message}`))

element('login').addEventListener('submit', (event) => {
  event.preventDefault()
  const given = element('token').value.trim()
  if (given === '') sessionStorage.removeItem(KEY)
  else sessionStorage.setItem(KEY, given)
  showLogin()
  element('login-state').textContent = given === '' ? 'Forgotten.' : ''
  loadAndTell()
})
element('search').addEventListener('input', search)
element('search').addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return
  element('search').value = ''
  search()
})
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, select') !== null
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
  event.preventDefault()
  element('search').focus()
})
addEventListener('hashchange', openLink)
// A link to where one is already changes nothing, and what it names may be closed by now.
element('contents').addEventListener('click', (event) => {
  if (event.target.closest('a')?.hash === location.hash) openLink()
})
showLogin()
loadAndTell()

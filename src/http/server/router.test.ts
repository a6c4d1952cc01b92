import { describe, expect, test } from 'vitest'
import { ServerError } from '../../domain/errors.ts'
import { route } from '../testing/server-fixture.ts'
import { createRouter } from './router.ts'

const nothing = () => {}
const table = [
  route('GET /', nothing),
  route('POST /', nothing, { door: 'ag-ui' }),
  route('POST /chat', nothing),
  route('GET /threads', nothing, { door: 'threads' }),
  route('GET /runs/:id', nothing),
  route('GET /runs/:id/events', nothing),
  route('POST /runs/:id/cancel', nothing),
  route('GET /runs/newest', nothing),
  route('POST /agents/:name', nothing, { door: 'ag-ui' }),
  route('GET /deck/*path', nothing),
  route('GET /deck/:id/flag', nothing),
]
const router = createRouter(table, new Set(['ag-ui', 'rest']))

function find(method: string, path: string): unknown {
  try {
    const { route, params } = router.find(method, path)
    return { path: `${route.method} ${route.path}`, params }
  } catch (error) {
    return error instanceof ServerError ? { code: error.code, ...error.details } : error
  }
}

describe('router', () => {
  test.each([
    ['POST', '/chat', 'POST /chat', {}],
    ['POST', '/chat/', 'POST /chat', {}],
    ['GET', '/', 'GET /', {}],
    ['GET', '/runs/7', 'GET /runs/:id', { id: '7' }],
    ['HEAD', '/runs/7/', 'GET /runs/:id', { id: '7' }],
    ['GET', '/runs/7/events', 'GET /runs/:id/events', { id: '7' }],
    ['GET', '/runs/newest', 'GET /runs/newest', {}],
    ['GET', '/runs/a%2Fb%20%C3%A9', 'GET /runs/:id', { id: 'a/b é' }],
    ['GET', '/runs/..', 'GET /runs/:id', { id: '..' }],
    ['GET', '/runs/__proto__', 'GET /runs/:id', { id: '__proto__' }],
    ['GET', '/deck', 'GET /deck/*path', { path: '' }],
    ['HEAD', '/deck/', 'GET /deck/*path', { path: '' }],
    ['GET', '/deck/a/b%20c/', 'GET /deck/*path', { path: 'a/b c' }],
    ['GET', '/deck/../%2E', 'GET /deck/*path', { path: '../.' }],
    ['GET', '/deck/a/flag', 'GET /deck/:id/flag', { id: 'a' }],
  ])('%s %s finds its route', (method, path, pattern, params) => {
    expect(find(method, path)).toEqual({ path: pattern, params })
  })

  test.each([
    '/runs//events',
    '//chat',
    '/chat//',
    '/a/../chat',
    '/Chat/%',
    '/runs/1/2/3',
    '*',
    '/%63hat',
    '/chat;x',
    '/deck//a',
    '/deck/a//',
    '/decks',
  ])('GET %s fits no route', (path) => {
    expect(find('GET', path)).toMatchObject({ code: 'route_not_found' })
  })

  test('refuses the same in the rest of a path', () => {
    expect(find('GET', '/deck/a/%00')).toEqual({ code: 'invalid_request' })
  })

  test.each(['%', '%zz', '%C3', '%ED%A0%80', '%00', '%0a', '%7f'])('refuses the segment %s', (segment) => {
    expect(find('GET', `/runs/${segment}`)).toEqual({ code: 'invalid_request' })
  })

  test('suggests similar routes, the same method first', () => {
    expect(find('POST', '/caht')).toEqual({ code: 'route_not_found', near: ['POST /chat'] })
    expect(find('POST', '/run/7/cancel')).toEqual({ code: 'route_not_found', near: ['POST /runs/:id/cancel'] })
    expect(find('GET', '/api/chat')).toEqual({ code: 'route_not_found', near: ['POST /chat'] })
    expect(find('GET', '/dekc')).toEqual({ code: 'route_not_found', near: ['GET /deck'] })
    expect(find('GET', '/completely/else')).toEqual({ code: 'route_not_found', near: [] })
    expect(find('GET', `/${'chat'.repeat(1000)}`)).toEqual({ code: 'route_not_found', near: [] })
  })

  test('for a wrong method, the error lists the methods of the path', () => {
    expect(find('DELETE', '/chat')).toEqual({ code: 'method_not_allowed', allow: ['POST', 'OPTIONS'] })
    expect(find('DELETE', '/')).toEqual({
      code: 'method_not_allowed',
      allow: ['GET', 'HEAD', 'POST', 'OPTIONS'],
    })
    expect(find('BREW', '/runs/7')).toEqual({ code: 'method_not_allowed', allow: ['GET', 'HEAD', 'OPTIONS'] })
  })

  test('a closed door is reported for any method, and its routes are not suggested', () => {
    expect(find('GET', '/threads')).toEqual({ code: 'door_closed', door: 'threads' })
    expect(find('POST', '/threads')).toEqual({ code: 'door_closed', door: 'threads' })
    expect(find('GET', '/thread')).toEqual({ code: 'route_not_found', near: [] })
    expect(router.methods('/threads')).toEqual([])
  })

  test('a closed route leaves the other methods of its path open', () => {
    const closed = createRouter(table, new Set())

    expect(closed.methods('/')).toEqual(['GET', 'HEAD', 'OPTIONS'])
    expect(() => closed.find('POST', '/')).toThrow('The protocol "ag-ui" is closed')
  })

  test.each([
    ['two routes answer', [route('GET /a/:x', nothing), route('GET /a/:x', nothing)]],
    ['names its parameters differently', [route('GET /a/:x', nothing), route('POST /a/:y', nothing)]],
    ['must begin with "/"', [route('GET a', nothing)]],
    ['something follows a "*"', [route('GET /a/*rest/b', nothing)]],
    ['two routes answer', [route('GET /a/*x', nothing), route('GET /a/*x', nothing)]],
  ])('refuses a table in which %s', (message, routes) => {
    expect(() => createRouter(routes, new Set())).toThrow(message)
  })
})

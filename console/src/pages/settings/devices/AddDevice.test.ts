import { expect, test } from 'vitest'
import { deviceLink } from './AddDevice.tsx'

const local = 'http://localhost:8000/console#code=AB-1'

test('a link of a server that knows its name stays as it is', () => {
  expect(deviceLink('https://agents.example.com/console#code=AB-1', 'http://localhost:8000/console', false)).toEqual({
    url: 'https://agents.example.com/console#code=AB-1',
    isLocal: false,
  })
})

test('a server that does not know its name is called as this browser calls it', () => {
  expect(deviceLink(local, 'https://deck.example.com/agents/console', true)).toEqual({
    url: 'https://deck.example.com/agents/console#code=AB-1&keep',
    isLocal: false,
  })
})

test('a link that works only on the server’s machine says so', () => {
  expect(deviceLink(local, 'http://localhost:8000/console', true)).toEqual({ url: `${local}&keep`, isLocal: true })
})

import { expect, test } from 'vitest'
import { shownStore } from './store-settings.ts'

test.each([
  ['postgres://deck:s3cret@db:5432/deck', 'postgres://deck@db:5432/deck'],
  ['postgresql://deck:p%40ss@db/deck?sslmode=require', 'postgresql://deck@db/deck?sslmode=require'],
  ['postgres://deck@db/deck?password=s3cret&sslmode=require', 'postgres://deck@db/deck?password=…&sslmode=require'],
  ['postgres://:s3cret@db/deck', 'postgres://@db/deck'],
  ['postgres://deck@a:1,b:2/deck', 'postgres://deck@a:1,b:2/deck'],
  ['postgres://deck:a@b@db/deck', 'postgres://deck@db/deck'],
])('%s is shown without its password', (url, shown) => {
  expect(shownStore(url)).toBe(shown)
})

import { expect, test } from '@jest/globals'
import { readQueryKeys, withoutQueryKeys } from './query-key.ts'

test.each<[url: string, keys: string[], rest: string]>([
  ['/v1/models', [], '/v1/models'],
  ['/v1/models?alt=sse', [], '/v1/models?alt=sse'],
  ['/v1/models?key=k', ['k'], '/v1/models'],
  ['/m:g?key=k&alt=sse', ['k'], '/m:g?alt=sse'],
  ['/m:g?alt=sse&key=k', ['k'], '/m:g?alt=sse'],
  ['/m?a=%20+b&key=k%2B%3d&&c', ['k+='], '/m?a=%20+b&&c'],
  ['/m?k%65y=k&x', ['k'], '/m?x'],
  ['/m?key=a&key=b', ['a', 'b'], '/m'],
  ['/m?Key=a&keys=b&key&%zz=c', [], '/m?Key=a&keys=b&key&%zz=c'],
  ['/m?key=%zz', ['%zz'], '/m'],
  ['http://h/m?key=a=b', ['a=b'], 'http://h/m'],
])('%s', (url, keys, rest) => {
  expect(readQueryKeys(url)).toEqual(keys)
  expect(withoutQueryKeys(url)).toBe(rest)
})

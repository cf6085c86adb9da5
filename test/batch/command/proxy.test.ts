import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it, type TestContext } from 'vitest';
import { rig } from './command.ts';
import { prompts } from './files.ts';

/**
 * A proxy that opens tunnels.
 * @param refusal the status line with which it refuses to, if it does
 */
async function startProxy(test: TestContext, refusal: () => string | undefined = () => undefined) {
  const tunnels: string[] = [];
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', ({ url = '', headers }, client) => {
    tunnels.push(`${url} ${headers['proxy-authorization'] ?? ''}`.trim());
    const refused = refusal();
    if (refused !== undefined) {
      client.end(`HTTP/1.1 ${refused}\r\n\r\n`);
      return;
    }
    const target = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    target.on('error', () => client.destroy());
    client.on('error', () => target.destroy());
    test.onTestFinished(() => {
      target.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, tunnels };
}

it('requests go through --proxy, or through the proxy of the usual variables', async (test) => {
  const { run, write, server } = await rig(test);
  const { port, url, tunnels } = await startProxy(test);
  write('in.jsonl', prompts(2));
  const args = ['in.jsonl', '--out', 'out.jsonl', '--concurrency', '1', '--overwrite'];
  const seen = () => [...new Set(tunnels.splice(0))];
  const target = `127.0.0.1:${server.port}`;
  expect((await run([...args, '--proxy', url])).code).toBe(0);
  expect(seen()).toEqual([target]);
  const withUser = { http_proxy: `http://me:secret@127.0.0.1:${port}` };
  const { code, stdout, stderr } = await run(args, { env: withUser });
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain('secret');
  const basic = Buffer.from('me:secret').toString('base64');
  expect(seen()).toEqual([`${target} Basic ${basic}`]);
  // NO_PROXY names hosts that are reached without it; --proxy outweighs the variables.
  expect((await run(args, { env: { HTTP_PROXY: url, NO_PROXY: '127.0.0.1' } })).code).toBe(0);
  expect(seen()).toEqual([]);
  const other = { HTTP_PROXY: 'http://127.0.0.1:1' };
  expect((await run([...args, '--proxy', url], { env: other })).code).toBe(0);
  expect(seen()).toEqual([target]);
});

it('a proxy that refuses the user or the server stops the run, and no line has failed', async (test) => {
  const { run, write, results } = await rig(test);
  const { url } = await startProxy(test, () => '407 Proxy Authentication Required');
  write('in.jsonl', prompts(30));
  const { code, stdout } = await run(['in.jsonl', '--out', 'out.jsonl', '--proxy', url]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^stopped {3}cannot reach .*: the proxy answered 407\. Check --proxy/);
  expect(stdout).toMatch(/^failed {4}0$/m);
  expect(results()).toEqual([]);
});

it('a proxy that does not reach the server for a while fails no line', async (test) => {
  const { run, write, results } = await rig(test);
  let asked = 0;
  const { url } = await startProxy(test, () => {
    asked += 1;
    return asked > 4 ? undefined : '502 Bad Gateway';
  });
  write('in.jsonl', prompts(30));
  const { code, stdout } = await run(['in.jsonl', '--out', 'out.jsonl', '--proxy', url]);
  expect(code, stdout).toBe(0);
  expect(results()).toHaveLength(30);
});

it('a proxy without http:// is one, and what is no URL is refused by its name', async (test) => {
  const { run, write } = await rig(test);
  const { port, tunnels } = await startProxy(test);
  write('in.jsonl', prompts(1));
  const args = ['in.jsonl', '--out', 'out.jsonl', '--overwrite'];
  const place = `127.0.0.1:${port}`;
  expect((await run(args, { env: { http_proxy: place } })).code).toBe(0);
  expect((await run([...args, '--proxy', place])).code).toBe(0);
  expect(tunnels).toHaveLength(2);
  const wrong = await run(args, { env: { HTTPS_PROXY: 'http://me:secret@' } });
  expect([wrong.code, wrong.stdout]).toEqual([2, '']);
  expect(wrong.stderr).toContain('HTTPS_PROXY must be an http or https URL, got "http://…@"');
});

it('a proxy that is down is named, with its option or variable', {
  timeout: 60_000,
}, async (test) => {
  const { run, write, results } = await rig(test);
  write('in.jsonl', prompts(2));
  const args = ['in.jsonl', '--out', 'out.jsonl'];
  const down = 'http://me:secret@127.0.0.1:1';
  const runs = await Promise.all([
    run([...args, '--proxy', down]),
    run(['in.jsonl', '--out', 'other.jsonl'], { env: { HTTP_PROXY: down } }),
  ]);
  for (const [index, name] of ['the option proxy', 'HTTP_PROXY'].entries()) {
    const { code, stdout = '', stderr = '' } = runs[index] ?? {};
    expect(code).toBe(1);
    const refused = `cannot reach the proxy 127.0.0.1:1 of ${name}: connect ECONNREFUSED 127.0.0.1:1`;
    expect(stdout).toContain('the proxy does not answer');
    expect(stdout).toContain(refused);
    expect(stdout).not.toContain('base-url');
    expect(stdout + stderr).not.toContain('secret');
  }
  expect(results()).toEqual([]);
});

import { createLimiterGroup } from 'headgate';

const group = createLimiterGroup((tenant: string) => tenant, {
  each: { concurrency: 4 },
  shared: { requestsPerMinute: 2 },
});
const tenants = ['ada', 'bob', 'cy', 'dee'];
const answers = tenants.map((tenant) => group.run(tenant, async () => tenant.toUpperCase()));
console.log(group.snapshot().keys.dee?.waiting); // 1

// The provider has raised the limit of the account.
group.configure({ shared: { requestsPerMinute: 5_000 }, each: { concurrency: 20 } });
console.log((await Promise.all(answers)).join()); // ADA,BOB,CY,DEE

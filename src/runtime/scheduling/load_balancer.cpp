#include "multipy/runtime/load_balancer.h"

#include "runtime/scheduling/interpreter_users.h"

namespace multipy::runtime {

LoadBalancer::LoadBalancer(std::size_t n) : users_(std::make_unique<InterpreterUsers>(n)) {}
LoadBalancer::~LoadBalancer() = default;

void LoadBalancer::setResourceLimit(std::size_t n) { users_->setResourceLimit(n); }
int LoadBalancer::acquire() noexcept { return users_->acquire(); }
void LoadBalancer::free(int where) { users_->free(where); }
std::size_t LoadBalancer::users(int where) const { return users_->users(where); }

}  // namespace multipy::runtime
